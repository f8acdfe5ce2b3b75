import type { SourceText } from '@twofold/schema';

/**
 * A migration in which git left a conflict: two branches wrote a file of the same name. No database
 * has applied both texts, so the text of the target branch stays, and the additional changes of the
 * other branch become a new migration.
 */
export function withoutConflict(source: SourceText): SourceText {
  if (!source.text.includes('<<<<<<< ')) return source;
  const text = source.text.replace(
    /^<{7} .*\r?\n([^]*?)^(?:\|{7}[^]*?)?={7}\r?\n[^]*?^>{7} .*(?:\r?\n|$)/gm,
    '$1',
  );
  return { ...source, text };
}
