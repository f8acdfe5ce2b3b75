/** Rows that others can refer to by key. */
export interface KnownRows {
  /** Index of the file's row of this type and key. */
  row(type: string, key: string): number | undefined;
  /** Id of a row that an earlier seed made. */
  id(type: string, key: string): string | undefined;
  keys(type: string): readonly string[];
}
