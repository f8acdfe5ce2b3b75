import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importHasura } from '../../../generator/import/hasura/import-hasura.ts';
import type { Metadata } from '../../../generator/import/hasura/metadata.ts';
import { printSchema } from '../../../generator/import/print-schema.ts';
import { catalogOfDatabase } from '../../../runtime/database/catalog-of-database.ts';
import { openStore } from '../../../runtime/core/store/open-store.ts';
import type { Store } from '../../../runtime/core/store/store.ts';
import { sql } from 'kysely';
import { databases, type TestDatabase } from '../../store/databases.ts';
import { type Adopted, serve } from '../../adopted/start.ts';
import { createRandom } from '../random.ts';

/** Conditions in one run; a long run has 300, with several seeds. */
const CONDITIONS = Number(process.env['HASURA_CONDITIONS'] ?? 60);
const SEEDS = (process.env['HASURA_SEEDS'] ?? '1').split(',').map(Number);

const postgres = databases.find(({ name }) => name === 'PostgreSQL')!;
const MISSING = postgres.missing ? ` (${postgres.missing})` : '';

describe.skipIf(postgres.missing)(`database acceptance 11: random conditions${MISSING}`, () => {
  describe.each(SEEDS)('seed %d', (seed) => {
    const conditions = conditionsOf(seed);
    let database: TestDatabase;
    let server: Adopted;

    beforeAll(async () => {
      database = await postgres.create();
      await sql.raw(statementsOf(seed)).execute(database.store.db);
      const catalog = await catalogOfDatabase({
        url: database.url,
        root: '/',
        schemas: ['public'],
      });
      const metadata = metadataOf(conditions);
      const [source] = metadata.sources;
      const imported = importHasura({ metadata, source: source!, catalog, user: undefined });
      const closed = imported.items.filter(({ status }) => status === 'closed');
      expect(closed.map(({ why }) => why).filter((why) => !why!.endsWith('no row'))).toEqual([]);
      server = await serve(database.url, printSchema(imported), MANIFEST);
    });

    afterAll(async () => {
      await server?.close();
      await database?.drop();
    });

    it('let the same rows through as in Hasura', async () => {
      const store = openStore(database.url, '/', { foreign: true });
      for (const [at, condition] of conditions.entries()) {
        const expected = await rowsOf(store, `thing_${at}`, condition);
        const { data } = await server.query(`{ t${at}s { id } }`);
        const found = data?.[`t${at}s`]?.map(({ id }: { id: string }) => id) ?? [];
        expect({ seed, condition, found: found.sort() }).toEqual({
          seed,
          condition,
          found: expected.sort(),
        });
      }
      await store.close();
    });
  });
});

const MANIFEST = 'name: theirs\ndatabase: { managed: false }\napi: { access: public }\n';

type Condition = { readonly [key: string]: unknown };

const WORDS = ['ant', 'bee', 'cat'];
const COLUMNS = { number: 'integer', flag: 'boolean', word: 'text' } as const;
/** The relationships of each kind of row, and the kind that they lead to. */
const LEADS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  thing: { parent: 'parents' },
  parents: { kids: 'kids' },
  kids: { parent: 'parents' },
};

function conditionsOf(seed: number): readonly Condition[] {
  const random = createRandom(seed);
  const value = (column: keyof typeof COLUMNS): unknown => {
    if (column === 'flag') return random.chance(0.5);
    return column === 'number' ? random.whole(4) : random.pick(WORDS);
  };
  const operation = (column: keyof typeof COLUMNS): Condition => {
    const many = () => Array.from({ length: random.whole(3) }, () => value(column));
    return random.pick<() => Condition>([
      () => ({ _eq: value(column) }),
      () => ({ _neq: value(column) }),
      () => ({ _in: many() }),
      () => ({ _nin: many() }),
      () => ({ _is_null: random.chance(0.5) }),
      () => (column === 'flag' ? { _eq: true } : { _gt: value(column), _lte: value(column) }),
      () => (column === 'flag' ? { _neq: true } : { _gte: value(column) }),
      () => (column === 'flag' ? { _neq: false } : { _lt: value(column) }),
    ])();
  };
  const condition = (kind: string, depth: number): Condition => {
    const column = random.pick(Object.keys(COLUMNS)) as keyof typeof COLUMNS;
    if (depth === 0) return { [column]: operation(column) };
    const inner = () => condition(kind, depth - 1);
    const [relation, to] = random.pick(Object.entries(LEADS[kind]!));
    return random.pick<() => Condition>([
      () => ({ _and: Array.from({ length: random.whole(3) }, inner) }),
      () => ({ _or: Array.from({ length: random.whole(3) }, inner) }),
      () => ({ _not: inner() }),
      () => ({ _not: inner() }),
      () => ({ [relation]: random.chance(0.1) ? {} : condition(to, depth - 1) }),
      () => ({ [column]: operation(column), ...inner() }),
    ])();
  };
  return Array.from({ length: CONDITIONS }, () => condition('thing', 1 + random.whole(4)));
}

function statementsOf(seed: number): string {
  const random = createRandom(seed + 1000);
  const value = (text: string) => (random.chance(0.3) ? 'null' : text);
  const row = (parents: number) =>
    [
      value(String(random.whole(4))),
      value(String(random.chance(0.5))),
      value(`'${random.pick(WORDS)}'`),
      ...(parents > 0 ? [value(String(1 + random.whole(parents)))] : []),
    ].join(', ');
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  const table = (name: string, more = '') =>
    `create table ${name} (id serial primary key, ${columns.join(', ')}${more});`;
  const rows = (name: string, count: number, parents: number) =>
    `insert into ${name} (${Object.keys(COLUMNS).join(', ')}${parents > 0 ? ', parent_id' : ''}) values ${Array.from({ length: count }, () => `(${row(parents)})`).join(', ')};`;
  const parent = ', parent_id integer references parents (id)';
  const things = Array.from({ length: CONDITIONS }, (_, at) => `thing_${at}`);
  return [
    table('parents'),
    table('kids', parent),
    rows('parents', 6, 0),
    rows('kids', 8, 6),
    ...things.map((name) => table(name, parent)),
    rows('thing_0', 24, 6),
    ...things.slice(1).map((name) => `insert into ${name} select * from thing_0;`),
  ].join('\n');
}

function metadataOf(conditions: readonly Condition[]): Metadata {
  const parent = { name: 'parent', using: { foreign_key_constraint_on: 'parent_id' } };
  const kids = {
    name: 'kids',
    using: { foreign_key_constraint_on: { table: 'kids', column: 'parent_id' } },
  };
  const things = conditions.map((filter, at) => ({
    table: { schema: 'public', name: `thing_${at}` },
    configuration: { custom_name: `T${at}` },
    object_relationships: [parent],
    select_permissions: [{ role: 'anonymous', permission: { columns: ['id'], filter } }],
  }));
  const tables = [
    { table: 'parents', array_relationships: [kids] },
    { table: 'kids', object_relationships: [parent] },
    ...things,
  ];
  return { version: 3, sources: [{ name: 'default', kind: 'postgres', tables }] };
}

/** The rows for which the condition is true, as Hasura asks for them: unknown is not true. */
async function rowsOf(store: Store, table: string, condition: Condition): Promise<string[]> {
  const text = `select id from ${table} t where ${sqlOf(condition, 't')}`;
  const { rows } = await sql.raw<{ id: number }>(text).execute(store.db);
  return rows.map(({ id }) => String(id));
}

function sqlOf(condition: Condition, alias: string): string {
  const parts = Object.entries(condition).map(([key, value]) => {
    const list = () => (value as readonly Condition[]).map((each) => sqlOf(each, alias));
    const next = `${alias}x`;
    const inner = () => sqlOf(value as Condition, next);
    switch (key) {
      case '_and':
        return `(${['true', ...list()].join(' and ')})`;
      case '_or':
        return `(${['false', ...list()].join(' or ')})`;
      case '_not':
        return `(not ${sqlOf(value as Condition, alias)})`;
      case 'parent':
        return `exists (select 1 from parents ${next} where ${next}.id = ${alias}.parent_id and ${inner()})`;
      case 'kids':
        return `exists (select 1 from kids ${next} where ${next}.parent_id = ${alias}.id and ${inner()})`;
      default:
        return comparisonsSql(`${alias}.${key}`, COLUMNS[key as keyof typeof COLUMNS], value);
    }
  });
  return `(${['true', ...parts].join(' and ')})`;
}

const SIGNS: Readonly<Record<string, string>> = {
  _eq: '=',
  _neq: '<>',
  _gt: '>',
  _gte: '>=',
  _lt: '<',
  _lte: '<=',
};

function comparisonsSql(column: string, type: string, value: unknown): string {
  const quote = (each: unknown) => (typeof each === 'string' ? `'${each}'` : String(each));
  const array = (all: unknown) => `array[${(all as unknown[]).map(quote).join(', ')}]::${type}[]`;
  const parts = Object.entries(value as Condition).map(([operator, operand]) => {
    if (operator === '_is_null') return `${column} is ${operand === true ? '' : 'not '}null`;
    if (operator === '_in') return `${column} = any(${array(operand)})`;
    if (operator === '_nin') return `${column} <> all(${array(operand)})`;
    return `${column} ${SIGNS[operator]} ${quote(operand)}`;
  });
  return `(${parts.join(' and ')})`;
}
