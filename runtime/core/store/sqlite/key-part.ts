import type { DatabaseSync } from 'node:sqlite';

/** The SQL function that percent-encodes one column of a composite key: `a:b` becomes `a%3Ab`. */
export const KEY_PART = 'twofold_key_part';

/** SQLite has no function for this. */
export function addKeyPart(database: DatabaseSync): void {
  database.function(KEY_PART, { deterministic: true, useBigIntArguments: true }, (value) =>
    value === null ? null : encodeURIComponent(String(value)),
  );
}
