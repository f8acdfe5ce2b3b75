/** What a change may mean for callers, data or code; from the worst to the best. */
export type Level = 'breaking' | 'dangerous' | 'safe';

export type ChangeClass = 'api' | 'rest' | 'documents' | 'access' | 'data' | 'code';

/** A place in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A recorded document that a change concerns. */
export interface UsedBy {
  readonly operation: string;
  readonly hash: string;
  /** Whether only the list still holds it, because its source is gone. */
  readonly retired: boolean;
  readonly at?: Place;
}

/** One difference between the two sides, as `generator breaking --json` prints it. */
export interface Change {
  readonly class: ChangeClass;
  readonly level: Level;
  /** Stable, upper snake case; for `api` that of graphql. */
  readonly code: string;
  readonly coordinate: string;
  readonly message: string;
  readonly fix?: string;
  /** Something that is gone has its place at the base. */
  readonly at?: Place;
  readonly usedBy?: readonly UsedBy[];
  /** Whether it is safe only because no document of a mandatory list uses it. */
  readonly unused?: true;
}

export const LEVELS: readonly Level[] = ['breaking', 'dangerous', 'safe'];

/** How many changes of each level there are. */
export function summaryOf(changes: readonly Change[]): Readonly<Record<Level, number>> {
  const count = (level: Level) => changes.filter((change) => change.level === level).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
}
