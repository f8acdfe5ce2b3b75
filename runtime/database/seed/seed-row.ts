import type { GivenValues } from '@twofold/runtime/data';

/** One row of a seed file. */
export interface SeedRow {
  readonly type: string;
  /** The name of the row in the file, by which other rows refer to it; null for a row of a list. */
  readonly key: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A problem with one row. */
export interface SeedFinding {
  /** Index of the row. */
  readonly row: number;
  readonly field?: string;
  readonly message: string;
  readonly fix?: string;
}

/** The result of a seed. When there are findings, nothing was written. */
export interface SeedReport {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly findings: readonly SeedFinding[];
}

/** A reference to another row: one of the file, or one that is in the database. */
export type Target = { readonly row: number } | { readonly id: string };

/** A row whose values are checked and coerced like the input of a mutation. */
export interface CheckedRow {
  readonly index: number;
  readonly type: string;
  /**
   * The text by which a second run recognises the row: its key, or a hash of its values for a row
   * of a list.
   */
  readonly identity: string;
  readonly hash: string;
  readonly columns: Readonly<Record<string, unknown>>;
  readonly links: readonly Link[];
  /** Values that are no fields of the type and that a capability takes, see `SeedValues`. */
  readonly taken: GivenValues;
}

/** The value of a relation in a row. */
export interface Link {
  readonly field: string;
  readonly targets: readonly Target[];
  readonly many: boolean;
  /**
   * Whether the foreign key is in the row itself, so that the target must be written before the
   * row.
   */
  readonly own: boolean;
  readonly required: boolean;
}
