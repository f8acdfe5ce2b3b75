import { memberRange } from './insert-member.ts';

/** A file of the user before and after; `null` when it does not exist. */
export interface CodeChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Moves the user's resolvers of a renamed type to the new name; the rest of the text stays. */
export function renameTypeInCode(
  text: string,
  { from, to }: { from: string; to: string },
): CodeChange[] {
  return [
    { path: `src/resolvers/${from}.ts`, before: text, after: null },
    {
      path: `src/resolvers/${to}.ts`,
      before: null,
      after: text.replaceAll(
        new RegExp(`\\btypes\\.${from}(?=Overrides\\b|Row\\b)`, 'g'),
        `types.${to}`,
      ),
    },
  ];
}

/**
 * Renames the user's resolver of a renamed field. Empty when there is none, or it cannot be found.
 */
export async function renameFieldInCode(
  text: string,
  { type, from, to }: { type: string; from: string; to: string },
): Promise<CodeChange[]> {
  const range = await memberRange(text, from);
  if (!range) return [];
  const after =
    text.slice(0, range.start) + (range.shorthand ? `${to}: ${from}` : to) + text.slice(range.end);
  return [{ path: `src/resolvers/${type}.ts`, before: text, after }];
}
