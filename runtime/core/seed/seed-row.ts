/** One row of a seed file. */
export interface SeedRow {
  readonly type: string;
  /** Its name in the file, by which other rows refer to it; null for a row of a list. */
  readonly key: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Something wrong with one row. */
export interface SeedFinding {
  /** Index of the row. */
  readonly row: number;
  readonly field?: string;
  readonly message: string;
  readonly fix?: string;
}

/** What a seed did. With findings nothing was done. */
export interface SeedReport {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly findings: readonly SeedFinding[];
}

/** A reference to another row: one of the file, or one that is in the database. */
export type Target = { readonly row: number } | { readonly id: string };

/** A row whose values are checked and in the form that mutations have them in. */
export interface CheckedRow {
  readonly index: number;
  readonly type: string;
  /** By which a second run knows the row again: its key, or for a row of a list a hash of what it says. */
  readonly identity: string;
  readonly hash: string;
  readonly columns: Readonly<Record<string, unknown>>;
  readonly links: readonly Link[];
}

/** What a row says of a relation. */
export interface Link {
  readonly field: string;
  readonly targets: readonly Target[];
  readonly many: boolean;
  /** Whether the row itself holds the key: then it has to be known before the row is written. */
  readonly own: boolean;
  readonly required: boolean;
}
