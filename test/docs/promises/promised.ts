/** One row of what is promised. */
export interface Promised {
  readonly row: string;
  /** The page and the heading with the example. */
  readonly page: `${string}.md#${string}`;
  /** What the example shows, to the letter. */
  readonly shows: string;
  /** Tests by file and title; each runs on SQLite and on PostgreSQL. */
  readonly tests: readonly `${string}.ts: ${string}`[];
}
