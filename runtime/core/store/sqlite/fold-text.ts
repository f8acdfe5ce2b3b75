import type { DatabaseSync } from 'node:sqlite';
import type { ReadText } from '../bounds.ts';

/** The SQL function that makes texts equal which differ only in case. */
export const FOLD_TEXT = 'twofold_fold';

/**
 * A text for comparisons without letter case. Accents count. The final sigma is replaced by the
 * ordinary one, because lower case has two forms of it.
 *
 * @example foldText('ΟΔΟΣ') // 'οδοσ'
 */
export const foldText = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

/** Adds a function for letter case to SQLite, which itself knows ASCII letters only. */
export function addFolding(database: DatabaseSync, read: ReadText): void {
  database.function(FOLD_TEXT, { deterministic: true, useBigIntArguments: true }, (value) => {
    if (value === null) return null;
    const text = String(value);
    // Together with what is returned.
    read(2 * text.length);
    return foldText(text);
  });
}
