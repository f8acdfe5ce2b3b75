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
 * One finding about the schema or the manifest. Data, never thrown: a run reports all of them at once.
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
  /** Text to paste, or the sentence that says what to do. */
  readonly fix?: string;
  readonly at: Position;
}
