import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMetadata } from '../../../generator/import/hasura/read-metadata.ts';

const OUTSIDE = '- { table: { schema: public, name: private_of_this_machine } }\n';
const sourceWith = (tables: string) => `- { name: default, kind: postgres, tables: ${tables} }\n`;

describe('metadata that somebody else wrote', () => {
  let root: string;
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  const sources = (text: string) => write('shop/metadata/databases/databases.yaml', text);
  const read = () => readMetadata(join(root, 'shop'), 'metadata');
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'hostile-'));
    write('shop/metadata/version.yaml', 'version: 3\n');
    write('private.yaml', OUTSIDE);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it.each(['"!include ../../../private.yaml"', '!include ../../../private.yaml'])(
    'reads no file outside of its folder: %s',
    (tables) => {
      sources(sourceWith(tables));
      expect(read).toThrow(/private\.yaml is included, and is outside of metadata/);
    },
  );

  it('reads none through a link either, and those of its folder as before', () => {
    symlinkSync(join(root, 'private.yaml'), join(root, 'shop/metadata/linked.yaml'));
    sources(sourceWith('"!include ../linked.yaml"'));
    expect(read).toThrow(/linked\.yaml is included, and is outside/);
    write('shop/metadata/own.yaml', OUTSIDE);
    sources(sourceWith('"!include ../own.yaml"'));
    expect(read().sources[0]!.tables).toHaveLength(1);
  });

  it('fills no memory with aliases, and no time with files that include each other', () => {
    const lines = Array.from(
      { length: 9 },
      (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(10)}]`,
    );
    sources(['a0: &a0 [x, x]', ...lines].join('\n'));
    expect(read).toThrow(/databases\.yaml cannot be read: Excessive alias count/);
    for (let at = 0; at < 9; at++)
      write(`shop/metadata/${at}.yaml`, `- "!include ${at + 1}.yaml"\n`.repeat(10));
    write('shop/metadata/9.yaml', '[]');
    sources(sourceWith('"!include ../0.yaml"'));
    expect(read).toThrow(/the files include more than 10000 others/);
  });
});
