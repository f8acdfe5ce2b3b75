import type { Table, TableColumn, TableForeignKey, TableIndex } from '@twofold/schema';

/** One step of a migration, as data. */
export type Step =
  | { readonly kind: 'createTable'; readonly table: Table }
  | { readonly kind: 'dropTable'; readonly table: Table }
  | { readonly kind: 'renameTable'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'renameColumn';
      readonly table: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'alterTable';
      readonly table: string;
      readonly changes: readonly ColumnChange[];
    }
  /** Rewrites rows with an old value of an enum to its new name. */
  | {
      readonly kind: 'renameValue';
      readonly table: string;
      readonly column: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'addForeignKey' | 'dropForeignKey';
      readonly table: string;
      readonly key: TableForeignKey;
    }
  | { readonly kind: 'createIndex'; readonly table: string; readonly index: TableIndex }
  | { readonly kind: 'dropIndex'; readonly table: string; readonly index: TableIndex };

export type ColumnChange =
  | { readonly kind: 'add'; readonly column: TableColumn }
  | { readonly kind: 'drop'; readonly column: TableColumn }
  | { readonly kind: 'alter'; readonly before: TableColumn; readonly after: TableColumn };

/** The steps that undo these, in order. */
export function invertSteps(steps: readonly Step[]): Step[] {
  return steps.map(invertStep).toReversed();
}

function invertStep(step: Step): Step {
  switch (step.kind) {
    case 'createTable':
      return { ...step, kind: 'dropTable' };
    case 'dropTable':
      return { ...step, kind: 'createTable' };
    case 'renameTable':
      return { ...step, from: step.to, to: step.from };
    case 'renameColumn':
    case 'renameValue':
      return { ...step, from: step.to, to: step.from };
    case 'alterTable':
      return { ...step, changes: step.changes.map(invertChange).toReversed() };
    case 'addForeignKey':
      return { ...step, kind: 'dropForeignKey' };
    case 'dropForeignKey':
      return { ...step, kind: 'addForeignKey' };
    case 'createIndex':
      return { ...step, kind: 'dropIndex' };
    case 'dropIndex':
      return { ...step, kind: 'createIndex' };
  }
}

function invertChange(change: ColumnChange): ColumnChange {
  if (change.kind === 'alter') return { kind: 'alter', before: change.after, after: change.before };
  return { kind: change.kind === 'add' ? 'drop' : 'add', column: change.column };
}
