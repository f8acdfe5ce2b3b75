import type { StoredType } from './column-types.ts';

/** The statements that undo a migration, as the ledger keeps them. */
export type Undo = readonly UndoStatement[];

export interface UndoStatement {
  readonly sql: string;
  readonly parameters?: readonly UndoValue[];
  /** What this statement and those that belong to it remove from the database. */
  readonly drops?: readonly DroppedValues[];
  /** Definitions that the rows have to satisfy. */
  readonly checks?: readonly RowCheck[];
}

export type UndoValue = string | number | boolean | null;

/** Values of a column, or all rows of a table. */
export interface DroppedValues {
  readonly table: string;
  readonly column?: string;
}

/** The definition of a column that an undo sets, as data. */
export interface RowCheck {
  readonly table: string;
  readonly kind: 'add' | 'alter';
  readonly name: string;
  readonly type: StoredType;
  readonly from?: StoredType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly default?: UndoValue;
  /** SQL */
  readonly check?: string;
  readonly references?: string;
}

/** Parses an entry of the ledger. Null for a text that none of our servers has written. */
export function parseUndo(text: unknown): Undo | null {
  if (typeof text !== 'string') return null;
  try {
    const statements: unknown = JSON.parse(text);
    return Array.isArray(statements) && statements.every(isStatement) ? statements : null;
  } catch {
    return null;
  }
}

function isStatement(each: unknown): each is UndoStatement {
  return typeof (each as Partial<UndoStatement> | null)?.sql === 'string';
}
