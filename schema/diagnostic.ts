/** A place in an input file. Lines and columns count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The number of marked characters; 1 when unknown. */
  readonly length: number;
}

/** An error stops the run; a warning and a hint do not. */
export type Severity = 'error' | 'warning' | 'hint';

/**
 * Replaces the text from `start` up to `end` of a file. Offsets count UTF-16 code units from 0, as
 * strings do.
 */
export interface Edit {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * One way to correct a finding. Its edits have to be applied together, and they change nothing
 * around them.
 */
export interface Fix {
  /** The meaning of this fix, if there are several. */
  readonly title?: string;
  readonly edits: readonly Edit[];
}

/**
 * One finding about the schema or the manifest. Data, never thrown: a run reports all of them at
 * once.
 *
 * @example
 * { code: 'RELATION_AMBIGUOUS', severity: 'error', summary: 'Post.author and Post.editor can both be the inverse of User.posts',
 *   why: 'two fields of Post have the type User', fix: 'posts: [Post!]! @relation(inverse: "author")', at: { … } }
 */
export interface Diagnostic {
  /** Stable, upper snake case. Listed in `schema/README.md`. */
  readonly code: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly why?: string;
  /** The lines after the first fix, or a sentence that says what to do. */
  readonly fix?: string;
  /** Fixes of the schema as edits that a program can apply, the advised one first. */
  readonly fixes?: readonly Fix[];
  /** The field, if the finding is about one that the user has to write: `Query.feed`. */
  readonly coordinate?: string;
  readonly at: Position;
}
