import { gzipSync } from 'node:zlib';
import { buildConsole } from '../../../runtime/console/build.ts';

/** A figure of the contract, with its limit. */
export interface ConsoleFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly most: number;
}

type Files = ReadonlyMap<string, Buffer>;

/** What a browser loads with these files: they, and what they import at once. */
function loadedWith(files: Files, begun: RegExp): ReadonlySet<string> {
  const loaded = new Set([...files.keys()].filter((name) => begun.test(name)));
  for (const name of loaded)
    if (name.endsWith('.js'))
      for (const [, file] of files
        .get(name)!
        .toString()
        .matchAll(/(?:from|import)"\.\/([^"]+)"/g))
        loaded.add(`assets/${file}`);
  return loaded;
}

const packed = (files: Files, names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(files.get(name)!).length, 0) / 1000;

/**
 * Pages that load more when they are opened, by the names of their files. The colours of SQL come
 * with the first plan.
 */
const MORE = [
  ['GraphQL, on demand', /\/(graphql|editor-(?!sql))[\w-]*\.js$/, 200],
  ['Terminal, on demand', /\/terminal-screen-[\w-]+\.js$/, 100],
] as const;

/**
 * The figures `first load`, with every file that is no script (styles, fonts, pictures), and
 * `more, on demand`, in kB of gzip.
 */
export async function measureFirstLoad(): Promise<ConsoleFigure[]> {
  const files = await buildConsole();
  const first = loadedWith(files, /\.(?!js$)\w+$|\/(console|overview|plot-canvas)-[\w-]+\.js$/);
  return [
    { what: 'first load', value: packed(files, first), unit: 'kB gzip', most: 80 },
    ...MORE.map(([what, begun, most]) => ({
      what,
      value: packed(
        files,
        [...loadedWith(files, begun)].filter((name) => !first.has(name)),
      ),
      unit: 'kB gzip more',
      most,
    })),
  ];
}
