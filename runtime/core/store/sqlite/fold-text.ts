import type { DatabaseSync } from 'node:sqlite';

/** The SQL function that makes texts equal which differ only in case. */
export const FOLD_TEXT = 'twofold_fold';

/**
 * A text for comparisons without letter case. Accents count. The final sigma is replaced by the
 * ordinary one, because lower case has two forms of it.
 *
 * @example foldText('ΟΔΟΣ') // 'οδοσ'
 */
export const foldText = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

/** Characters of a text that takes about as long to fold as a row to find. */
const LARGE = 1000;

/**
 * Adds functions for letter case to SQLite, which itself knows ASCII letters only.
 *
 * @param step called for each large text: a statement may be ended there.
 */
export function addFolding(database: DatabaseSync, step: () => void): void {
  database.function(FOLD_TEXT, { deterministic: true, useBigIntArguments: true }, (value) => {
    if (value === null) return null;
    const text = String(value);
    if (text.length > LARGE) step();
    return foldText(text);
  });
}
