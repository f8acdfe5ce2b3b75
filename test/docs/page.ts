import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../source-files.ts';

/** The folders whose pages are held to what the code does. */
export const FOLDERS = [
  'schema/docs',
  'runtime/core/data-api/docs',
  'runtime/core/graphql/docs',
  'runtime/core/jobs/docs',
  'runtime/core/mcp/docs',
  'runtime/core/metrics/docs',
  'runtime/core/rest/docs',
  'runtime/core/traces/docs',
  'runtime/core/routes/docs',
  'runtime/auth/docs',
  'runtime/console/docs',
  'generator/docs',
  'site/pages/how-to',
  'site/pages/about',
] as const;

/** A fenced block. "graphql schema finding=TYPE_UNKNOWN" has the language `graphql`, the role `schema` and one option. */
export interface Block {
  readonly language: string;
  readonly role: string;
  readonly options: Readonly<Record<string, string>>;
  readonly text: string;
  readonly line: number;
}

export interface Page {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Every page of the folders, sorted. */
export function pages(): Page[] {
  return FOLDERS.flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder))
          .sort()
          .filter((name) => name.endsWith('.md'))
          .map((name) => readPage(`${folder}/${name}`))
      : [],
  );
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, blocks: blocksOf(text) };
}

/** The blocks of a page in their order. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```([^\n]*)\n([^]*?)^```$/gm)].map(
    ([, info = '', body = ''], index, all) => {
      const [language = '', ...words] = info.trim().split(/\s+/);
      const options = Object.fromEntries(
        words
          .filter((word) => word.includes('='))
          .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
      );
      return {
        language,
        role: words.find((word) => !word.includes('=')) ?? '',
        options,
        text: body,
        line: text.slice(0, all[index]!.index).split('\n').length,
      };
    },
  );
}
