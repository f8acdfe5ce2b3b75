/** Rows to which others can refer by key. */
export interface KnownRows {
  /** The index of the row in the file that has this type and key. */
  row(type: string, key: string): number | undefined;
  /** Id of a row that an earlier seed made. */
  id(type: string, key: string): string | undefined;
  keys(type: string): readonly string[];
}
