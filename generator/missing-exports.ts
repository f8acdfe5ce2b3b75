import { nearest } from '@twofold/schema';
import type { Diagnostic, SourceText } from '@twofold/schema';
import type { Sources } from './files.ts';

/** What the generated `app.ts` imports from each of the user's files, by name. */
const EXPORTS: readonly (readonly [RegExp, string])[] = [
  [/^src\/mails\/[^/]+\.ts$/, 'mail'],
  [/^src\/routes\.ts$/, 'routes'],
  [/^src\/middleware\.ts$/, 'middleware'],
  [/^src\/credentials\.ts$/, 'credentials'],
  [/^src\/extend\.ts$/, 'extend'],
  [/^src\/auth-hooks\.ts$/, 'authHooks'],
  [/^src\/auth-events\.ts$/, 'listeners'],
  [/^src\/scalars\.ts$/, 'scalars'],
  [/^src\/hooks\/[^/]+\.ts$/, 'hooks'],
  [/^src\/resolvers\/[^/]+\.ts$/, 'resolvers'],
  [/^src\/texts\/[^/]+\.ts$/, 'texts'],
  [/^src\/plugins\/[^/]+\.ts$/, 'default'],
  [/^src\/jobs\/[^/]+\.ts$/, 'default'],
];

/**
 * Finds files of the user that lack an export which the server imports: the server would not start.
 */
export function findMissingExports({
  userFiles,
  resolvers,
  otherUserTexts,
}: Pick<Sources, 'userFiles' | 'resolvers' | 'otherUserTexts'>): Diagnostic[] {
  return [...resolvers, ...otherUserTexts].flatMap(({ file, text }) => {
    if (!userFiles.includes(file)) return [];
    const name = EXPORTS.find(([path]) => path.test(file))?.[1];
    if (name === undefined || hasExport(text, name)) return [];
    return [missingExport({ file, text }, name, 'the generated src/generated/app.ts imports it')];
  });
}

/** The finding for one file that lacks an export, and why the server needs it. */
export function missingExport({ file, text }: SourceText, name: string, why: string): Diagnostic {
  const start = text.search(/^[ \t]*export\s+default\b/m);
  const before = start < 0 ? '' : text.slice(0, start);
  const meant = nearest(name, exportsOf(text));
  const fix = name === 'default' ? 'export default …' : `export const ${name} = …`;
  return {
    code: 'FILE_EXPORT_MISSING',
    severity: 'error',
    summary: `${file} has no ${name === 'default' ? 'default export' : `export named ${name}`}`,
    why: `${why}; the server does not start without it${meant ? `. Did you mean "${meant}"?` : ''}`,
    fix: start < 0 ? `add: ${fix}` : `write ${fix} in place of export default`,
    at: {
      file,
      line: before.split('\n').length,
      column: 1,
      length: start < 0 ? 1 : 'export default'.length,
    },
  };
}

/** Searches without a syntax tree, because every run does it; `export *` may export any name. */
function hasExport(text: string, name: string): boolean {
  const declared =
    name === 'default'
      ? /\bexport\s+default\b|\bas\s+default\b/
      : new RegExp(
          `\\bexport\\s+(?:(?:const|let|var|class|function\\*?|async\\s+function\\*?)\\s+${name}\\b|(?:const|let|var)\\s*\\{[^}]*\\b${name}\\b|\\{[^}]*\\b${name}\\s*[,}])`,
        );
  return declared.test(text) || /\bexport\s*\*\s*from\b/.test(text);
}

/** The names that a file declares and exports. */
const exportsOf = (text: string): string[] =>
  Array.from(
    text.matchAll(/\bexport\s+(?:const|let|var|class|function\*?|async\s+function\*?)\s+(\w+)/g),
    ([, name]) => name as string,
  );
