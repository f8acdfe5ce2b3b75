/** A place in an input file. Lines and columns count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** How many characters the mark under the line covers; 1 when unknown. */
  readonly length: number;
}

/** How much a finding weighs: an error stops the run, the others do not. */
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
 * One way to mend a finding. Its edits belong together; each keeps what stands around it as it is.
 */
export interface Fix {
  /** What this way means, where there are several. */
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
  /** The lines as they will be after the first fix, or the sentence that says what to do. */
  readonly fix?: string;
  /**
   * The same as edits that a program can apply, where it can be done in the schema: the one that is
   * advised first.
   */
  readonly fixes?: readonly Fix[];
  /** The field that it is about, if it is about one that is left to the user: `Query.feed`. */
  readonly coordinate?: string;
  readonly at: Position;
}
