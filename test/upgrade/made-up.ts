import { VERSION } from '../../runtime/core/version.ts';
import { releaseOf } from '../../schema/releases.ts';
import type { MadeUp } from './releases.ts';

const [major = 0, minor = 0] = VERSION.split('.').map(Number);

/** The made-up versions: the first two releases after the sources of today. */
export const NEXT = `${major}.${minor + 1}.0`;
export const LATER = `${major}.${minor + 2}.0`;

/** Renames an import of our package, and its uses, by position. */
const renaming = (version: string, from: string, to: string) => `{
  version: '${version}',
  name: '${to}',
  about: '${from} is ${to}',
  reads: (path) => /\\.ts$/.test(path),
  edit: ({ text }) => {
    if (!/from '@twofold\\/runtime'/.test(text)) return { edits: [] };
    const found = [...text.matchAll(/(?<![\\w$.'"])${from}(?![\\w$'"])/g)];
    const edits = found.map(({ index }) => ({ at: index, end: index + ${from.length}, text: '${to}' }));
    const odd = [...text.matchAll(/['"]${from}['"]/g)];
    return { edits, byHand: odd.map(({ index }) => ({ at: index, what: 'a text names ${from}' })) };
  },
}`;

const inTable = (entry: string) => (text: string) =>
  text.replace(
    /const codemods = \[(.*)\];/s,
    (_, rest: string) =>
      `const codemods = [${rest.replace(/,?\s*$/, rest === '' ? '' : ',\n')}${entry},\n];`,
  );

const exported = (to: string, ending: string): MadeUp => ({
  of: 'runtime',
  file: `index.${ending}`,
  change: (text) =>
    text.replace(
      /(export \{[^;]*?)\b(?:openContext(?: as \w+)?|createContext)\b/,
      `$1openContext as ${to}`,
    ),
});

const section = (version: string, entries: string) => (text: string) =>
  text.replace(
    /^## Unreleased$/m,
    `## Unreleased\n\n## ${version} (2027-01-02)\n\n### Breaking\n\n${entries}\n### Added\n`,
  );

const shorterDepth = `{
  release: '${releaseOf(NEXT)}',
  path: ['api', 'limits', 'depth'],
  before: 12,
  after: 3,
  reason: 'no front end asks for more',
}`;

/** What the first of them changes. */
export const next: readonly MadeUp[] = [
  {
    of: 'generator',
    file: 'generator/upgrade/run-codemods.js',
    change: inTable(renaming(NEXT, 'openContext', 'createContext')),
  },
  {
    of: 'generator',
    file: 'templates/code.js',
    change: (text) => text.replace('Do not edit:', 'Do not change:'),
  },
  {
    of: 'generator',
    file: 'templates/seeded/dot-files.js',
    change: (text) => text.replace('*.log\n', '*.log\n*.tmp\n'),
  },
  {
    of: 'generator',
    file: 'templates/seeded/readme.js',
    change: (text) => text.replace('# ', '# Project '),
  },
  {
    of: 'generator',
    file: 'CHANGELOG.md',
    change: section(
      NEXT,
      '- `openContext` is `createContext`; `upgrade` renames it.\n- `api.rest` has\n  other words.\n- `hosting.domain` is asked for.\n- Servers are kinder.\n',
    ),
  },
  exported('createContext', 'js'),
  exported('createContext', 'd.ts'),
  {
    of: 'schema',
    file: 'index.js',
    change: (text) => text.replace('changedDefaults = [', `changedDefaults = [${shorterDepth},`),
  },
  {
    of: 'schema',
    file: 'index.js',
    change: (text) => text.replace(/(depth: \{[^}]*default: )12/, '$13'),
  },
];

/** What the second one changes, after the first. */
export const later: readonly MadeUp[] = [
  ...next,
  {
    of: 'generator',
    file: 'generator/upgrade/run-codemods.js',
    change: inTable(renaming(LATER, 'createContext', 'makeContext')),
  },
  {
    of: 'generator',
    file: 'templates/seeded/dot-files.js',
    change: (text) => text.replace('*.tmp\n', '*.tmp\n*.bak\n'),
  },
  {
    of: 'generator',
    file: 'CHANGELOG.md',
    change: section(LATER, '- `createContext` is `makeContext`.\n'),
  },
  exported('makeContext', 'js'),
  exported('makeContext', 'd.ts'),
];
