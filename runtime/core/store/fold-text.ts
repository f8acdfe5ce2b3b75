import type { DatabaseSync } from 'node:sqlite';

/** The SQL function that makes texts equal which differ only in case. */
export const FOLD_TEXT = 'twofold_fold';

/**
 * A text without its case. Accents count. The last sigma of a word is a letter of its own in lower
 * case, so it is written as any other.
 *
 * @example foldText('ΟΔΟΣ') // 'οδοσ'
 */
export const foldText = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

/** SQLite itself knows the case of ASCII letters only. */
export function addFolding(database: DatabaseSync): void {
  database.function(FOLD_TEXT, { deterministic: true, useBigIntArguments: true }, (value) =>
    value === null ? null : foldText(String(value)),
  );
}
