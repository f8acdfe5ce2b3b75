import type { SourceText } from '@twofold/schema';

/**
 * A migration in which git left a conflict: two branches wrote a file of the same name. No database has it with both texts, so
 * the side of the branch that was merged into stays, and what the other one did beyond it becomes a migration of its own.
 */
export function withoutConflict(source: SourceText): SourceText {
  if (!source.text.includes('<<<<<<< ')) return source;
  const text = source.text.replace(
    /^<{7} .*\r?\n([^]*?)^(?:\|{7}[^]*?)?={7}\r?\n[^]*?^>{7} .*(?:\r?\n|$)/gm,
    '$1',
  );
  return { ...source, text };
}
