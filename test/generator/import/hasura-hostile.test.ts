import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Catalog, CatalogTable } from '@twofold/database';
import { importHasura } from '../../../generator/import/hasura/import-hasura.ts';
import type { MetadataTable } from '../../../generator/import/hasura/metadata.ts';
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

const column = (name: string) => ({
  ...{ name, type: 'integer', typeKind: 'base', nullable: false, default: null },
  ...{ typeName: { schema: 'pg_catalog', name: 'int4' }, generated: null, identity: null },
  comment: null,
});

const table = (name: string, columns: readonly string[], more: Partial<CatalogTable> = {}) =>
  ({
    ...{ schema: 'public', name, kind: 'table', comment: null, partitionOf: null },
    ...{ partitioned: false, partitionKey: null, bound: null, extension: null },
    ...{ rowSecurity: false, definition: null, columns: columns.map(column) },
    primaryKey: { name: `${name}_pkey`, columns: ['id'] },
    ...{
      uniques: [],
      foreignKeys: [],
      indexes: [],
      checks: [],
      triggers: [],
      policies: [],
      exclusions: [],
    },
    ...more,
  }) as unknown as CatalogTable;

const PEOPLE = table('people', ['id', 'badge'], {
  uniques: [{ name: 'people_badge_key', columns: ['badge'] }],
});
const TASKS = table('tasks', ['id', 'person'], {
  foreignKeys: [
    {
      ...{ name: 'tasks_person_fkey', columns: ['person'], references: ['id'] },
      ...{ table: { schema: 'public', name: 'people' }, onDelete: 'no action' },
      ...{ onUpdate: 'no action', deferrable: false, validated: true },
    },
  ],
});

function imported(...tables: readonly MetadataTable[]) {
  const source = { name: 'default', kind: 'postgres', tables };
  const catalog = {
    ...{ dialect: 'postgres', schemas: ['public'], tables: [PEOPLE, TASKS], enums: [] },
    ...{ domains: [], sequences: [], functions: [], role: null },
  } as Catalog;
  const metadata = { version: 3, sources: [source] };
  return importHasura({ metadata, source, catalog, user: undefined });
}

describe('what such metadata becomes', () => {
  it('has no name that would be read as more of the schema', () => {
    const name = 'Task { id: ID! } type Open @auth(allow: [PUBLIC])';
    const { types } = imported(
      { table: 'people' },
      {
        table: 'tasks',
        configuration: { custom_name: name, custom_column_names: { id: `id: ID! ${name}` } },
        object_relationships: [{ name, using: { foreign_key_constraint_on: 'person' } }],
      },
    );
    const names = types.flatMap((type) => [type.name, ...type.fields.map((field) => field.name)]);
    expect(names).toEqual(expect.arrayContaining(['Task', 'person']));
    for (const each of names) expect(each).toMatch(/^\w+$/);
  });

  it('compares the columns that a relationship made by hand names, and not those of a key beside it', () => {
    const { types, items } = imported({ table: 'people' }, {
      table: 'tasks',
      object_relationships: [
        {
          name: 'owner',
          using: {
            manual_configuration: { remote_table: 'people', column_mapping: { person: 'badge' } },
          },
        },
      ],
      select_permissions: [
        { role: 'member', permission: { columns: ['id'], filter: { owner: { id: { _eq: 1 } } } } },
      ],
    } as MetadataTable);
    const task = types.find(({ name }) => name === 'Task')!;
    expect(task.directives).toEqual(['@auth(allow: [API_KEY])']);
    expect(items).toContainEqual(
      expect.objectContaining({ object: 'public.tasks.member.select', status: 'closed' }),
    );
  });
});
