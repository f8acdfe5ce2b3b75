/** A word or a value of a JSON Schema that the grammar cannot keep. `path` is where it stands. */
export class UnsupportedSchema extends Error {
  readonly code = 'SCHEMA_UNSUPPORTED';
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.path = path;
  }
}
