import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { directivesSdl } from '@twofold/schema';
import { commands } from '../../generator/cli/commands.ts';
import { EXIT } from '../../generator/failure.ts';
import { root, sourceFiles } from '../source-files.ts';
import { pages, readPage } from './page.ts';

const text = (path: string) => readFileSync(join(root, path), 'utf8');
const codesIn = (page: string) =>
  [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code!);

describe('findings.md', () => {
  const rows = [...text('schema/docs/findings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
    ([, code]) => code!,
  );

  it('has every code that the package can report, and no other', () => {
    // Codes stand in calls of finding(…), in `code:` of an object, in the table of rules and in conditional expressions of these.
    const source = sourceFiles('schema').map(text).join('\n');
    const lines = source
      .replaceAll(/\(\n\s+/g, '(')
      .split('\n')
      .filter(
        (line) =>
          /[fF]inding\(|code[:=?]|code (?:===|\?\?)|\['[A-Z]+_[A-Z_]+', graphql\./.test(line) ||
          /^\s*'[A-Z]+_[A-Z_]+',$/.test(line),
      );
    const codes = new Set(
      lines.flatMap((line) =>
        [...line.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code!),
      ),
    );
    codes.delete('DUPLICATE_KEY'); // the YAML parser's own word
    expect(rows.toSorted()).toEqual([...codes].toSorted());
  });

  it('agrees with the list in the README of the package', () => {
    expect(rows.toSorted()).toEqual(
      [...new Set(codesIn(text('schema/README.md').split('## Findings')[1]!))].toSorted(),
    );
  });
});

describe('directives.md', () => {
  const page = text('schema/docs/directives.md');
  const definitions = parse(directivesSdl).definitions.flatMap((node) =>
    node.kind === 'DirectiveDefinition' ? [node] : [],
  );

  it.each(definitions.map((node) => [node.name.value, node] as const))(
    'has a section on @%s with every argument',
    (name, node) => {
      const section =
        page.split(/^## /m).find((part) => new RegExp(`@${name}\\b`).test(part.split('\n')[0]!)) ??
        '';
      expect([name, section === '']).toEqual([name, false]);
      for (const argument of node.arguments ?? [])
        expect([
          name,
          argument.name.value,
          new RegExp(`\\b${argument.name.value}\\b`).test(section),
        ]).toEqual([name, argument.name.value, true]);
    },
  );

  it('shows all of them in use', () => {
    const shown = readPage('schema/docs/directives.md')
      .blocks.map((block) => block.text)
      .join('\n');
    expect(
      definitions.map(({ name }) => name.value).filter((name) => !shown.includes(`@${name}`)),
    ).toEqual([]);
  });
});

describe('manifest.md', () => {
  const page = text('schema/docs/manifest.md');
  const schema = JSON.parse(text('schema/manifest.schema.json')) as Shape;

  it('has every key, and no key that is none', () => {
    const keys = keysOf(schema, []);
    const named = [...page.matchAll(/`([a-z]+(?:\.[a-z0-9_*]+)+|name|defaults|codegen)`/g)]
      .map(([, key]) => key!)
      .filter((key) => key !== 'manifest.yaml');
    const open = named.filter((key) => key.endsWith('.*')).map((key) => key.slice(0, -1));
    expect(
      keys.filter((key) => !named.includes(key) && !open.some((prefix) => key.startsWith(prefix))),
    ).toEqual([]);
    expect(named.filter((key) => !key.endsWith('.*') && !keys.includes(key))).toEqual([]);
    const inner = keys
      .filter((key) => open.some((prefix) => key.startsWith(prefix)))
      .map((key) => key.split('.').at(-1)!);
    expect(inner.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
  });

  it('has the defaults of the schema', () => {
    const rows = page
      .split('\n')
      .filter((line) => /^\| `(?:server|api|auth|hosting|database)\./.test(line));
    const wrong = rows.flatMap((row) => {
      const [, names = '', defaults = ''] = row
        .split(' | ')
        .map((cell) => cell.replace(/^\| /, ''))
        .toSpliced(0, 0, '');
      const keys = [...names.matchAll(/`([a-z_.]+)`/g)].map(([, key]) => key!);
      return keys.flatMap((key) => {
        const value = defaultOf(schema, key.split('.'));
        const shown =
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? '{}'
            : Array.isArray(value)
              ? JSON.stringify(value)
              : String(value);
        return value === undefined || defaults.includes(shown)
          ? []
          : [`${key}: ${shown} is not in "${defaults}"`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('names only settings that the code reads', () => {
    const source = [...sourceFiles('runtime'), ...sourceFiles('schema')].map(text).join('\n');
    const settings = [
      ...page.split('## Settings')[1]!.matchAll(/^\| ((?:`[A-Z_]+` ?)+)\|/gm),
    ].flatMap(([, names]) => [...names!.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!));
    expect(settings.length).toBeGreaterThan(15);
    expect(
      settings.filter((name) => !name.startsWith('GOOGLE_') && !source.includes(name)),
    ).toEqual([]);
  });
});

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
}

/** Paths of the keys that hold a value, `auth.jwt.ttl`; sections are named by what is in them. */
function keysOf(shape: Shape, path: readonly string[]): string[] {
  if (!shape.properties) return path.length > 0 ? [path.join('.')] : [];
  return Object.entries(shape.properties).flatMap(([key, inner]) => keysOf(inner, [...path, key]));
}

function defaultOf(shape: Shape, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return shape.default;
  const inner = shape.properties?.[key];
  return inner && defaultOf(inner, rest);
}

describe('commands.md', () => {
  const page = text('generator/docs/commands.md');

  it('has a section for each command, with its options, and for no other', () => {
    expect([...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!).toSorted()).toEqual(
      commands
        .filter((command) => !('hidden' in command && command.hidden))
        .map(({ name }) => name)
        .toSorted(),
    );
    for (const { name, options } of commands) {
      const section = page.split(/^## /m).find((part) => part.startsWith(`${name}\n`)) ?? '';
      expect([
        name,
        options
          .filter((option) => !option.hidden && !section.includes(`--${option.name}`))
          .map((option) => option.name),
      ]).toEqual([name, []]);
    }
  });

  it('has every exit code', () => {
    expect([...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))).toEqual(
      Object.values(EXIT),
    );
  });
});

describe('the pages', () => {
  it('name every setting that a server reads', () => {
    const read = [
      ...new Set(
        sourceFiles('runtime').flatMap((path) =>
          [...text(path).matchAll(/settings\.(?:text|number|flag)\('([A-Z][A-Z0-9_]*)'/g)].map(
            ([, name]) => name!,
          ),
        ),
      ),
    ];
    const shown = [
      'schema',
      'runtime/auth',
      'runtime/core/graphql',
      'runtime/hosting',
      'runtime/models',
      'runtime/core/rest',
    ]
      .flatMap((folder) => pagesOf(`${folder}/docs`))
      .join('\n');
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((name) => !shown.includes(`\`${name}\``)).toSorted()).toEqual([]);
  });
});

const pagesOf = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => text(`${folder}/${name}`));

describe('limits.md', () => {
  it('has only codes that the code knows', () => {
    const source = ['runtime', 'generator', 'schema/limits']
      .flatMap((folder) => sourceFiles(folder))
      .map(text)
      .join('\n');
    expect(
      pages()
        .filter(({ path }) => path.startsWith('runtime/'))
        .flatMap((page) => codesIn(page.text))
        .filter(
          (code) =>
            !source.includes(code) &&
            !text('schema/docs/findings.md').includes(code) &&
            !/^(NAME_ASC|API_KEY|NODE_ENV|(GOOGLE|APPLE)_[A-Z_]+)$/.test(code),
        ),
    ).toEqual([]);
  });
});

describe('links', () => {
  it.each(pages().map((page) => [page.path, page] as const))(
    'of %s lead somewhere',
    (path, page) => {
      expect(
        linksOf(page.text).filter((link) => !existsSync(join(root, dirname(path), link))),
      ).toEqual([]);
    },
  );

  it('lead to every page from the READMEs of the packages', () => {
    const seen = new Set([
      'schema/README.md',
      'generator/README.md',
      'runtime/README.md',
      'site/README.md',
    ]);
    for (const path of seen)
      for (const link of linksOf(text(path)))
        if (link.endsWith('.md')) seen.add(join(dirname(path), link));
    expect(
      pages()
        .map(({ path }) => path)
        .filter((path) => !seen.has(path)),
    ).toEqual([]);
  });
});

const linksOf = (page: string) =>
  [...page.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^https?:/.test(link));
