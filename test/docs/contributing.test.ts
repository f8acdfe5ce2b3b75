import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../source-files.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = ['CONTRIBUTING.md', 'SECURITY.md'];
const contributing = read('CONTRIBUTING.md');
const glossary = [...contributing.matchAll(/^\| `(\w+)` \| (.+) \| `(.+)` \|$/gm)].map(
  ([, name = '', meaning = '', path = '']) => ({ name, meaning, path }),
);

describe('the page for contributors', () => {
  it.each(pages)('names in %s only files and folders that are there', (page) => {
    const text = read(page);
    const named = [
      ...Array.from(text.matchAll(/`([\w.][\w./-]*)`/g), ([, path = '']) => path).filter(isPath),
      ...Array.from(text.matchAll(/\]\(([^)#]+)/g), ([, path = '']) => path),
      ...Array.from(text.matchAll(/\b(test\/[\w./-]+)/g), ([, path = '']) => path),
    ];
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('names only scripts of package.json', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = Array.from(
      contributing.matchAll(/npm run ([\w:-]*\w)/g),
      ([, name = '']) => name,
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('says what five sample changes touch', () => {
    const rows = contributing.split('| To add |')[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? [];
    expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual([
      'a scalar',
      'a directive that changes SQL',
      'a key under `auth` with a route',
      'an engine driver',
      'a page for browsers',
    ]);
  });

  it('has a glossary of at most 40 names, each once and declared where it says', () => {
    expect(glossary.length).toBeGreaterThan(15);
    expect(glossary.length).toBeLessThanOrEqual(40);
    expect(new Set(glossary.map(({ name }) => name)).size).toBe(glossary.length);
    const missing = glossary.filter(
      ({ name, path }) =>
        !new RegExp(
          `^export (?:abstract )?(?:async )?(?:interface|type|class|function|const) ${name}\\b`,
          'm',
        ).test(read(path)),
    );
    expect(missing).toEqual([]);
  });
});

/** Not the two inputs of a project, and no names of folders that every layer has. */
const isPath = (text: string) =>
  /\/|\.(ts|md|json)$/.test(text) && !['README.md', 'docs/'].includes(text);
