import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../runtime/database/catalog/catalog.ts';
import { catalogSource, readCatalog } from '../../runtime/database/catalog/read-catalog.ts';
import { databases, type TestDatabase } from './databases.ts';

const SQLITE = `
  create table "Order Lines (old)" ("order" integer not null, line integer, note text default 'none' check (note <> 'a, (b'), primary key (line, "order"), foreign key ("order") references ORDERS on delete cascade) without rowid, strict;
  create table orders (id integer primary key, total NUMERIC(10,2) not null, twice as (total * 2) stored, code text unique, parent integer references orders(id),
    constraint positive check (total >= 0 /* ) */));
  create unique index open_codes on orders (lower(code)) where id > 2;
  create view totals as select id, total from orders;
  create view broken as select * from gone;
  create trigger noted after insert on Orders begin update orders set code = 'x' where id = new.id; end;
`;

const POSTGRES = `
  create schema shop;
  create type shop.mood as enum ('sad', 'so-so', 'glad');
  create domain shop.year as integer not null default 2000 check (value between 1901 and 2155);
  create table shop.region (country text, code text, primary key (code, country));
  create table shop."City" (id bigint generated always as identity primary key, country text, region_code text, mood shop.mood default 'glad', labels text[] not null default '{}',
    made shop.year, price numeric(10,2) check (price > 0), twice numeric generated always as (price * 2) stored, seq serial unique,
    foreign key (region_code, country) references shop.region (code, country) on delete set null deferrable,
    exclude using btree (seq with =));
  comment on table shop."City" is 'where people are'; comment on column shop."City".price is 'in euro';
  create unique index priced on shop."City" (lower(country), seq) include (price) where price is not null;
  create view shop.dear as select id, price from shop."City";
  create materialized view shop.kept as select * from shop.dear;
  create function shop.f(a integer, out b text) language sql as $$ select a::text $$;
  create function shop.t() returns trigger language plpgsql as $$ begin return new; end $$;
  create trigger noted before insert on shop."City" for each row execute function shop.t();
  alter table shop."City" enable row level security;
  create policy mine on shop."City" for select using (country = current_user);
  create table shop.log (at date not null, line text) partition by range (at);
  create table shop.log_1 partition of shop.log for values from ('2020-01-01') to ('2021-01-01');
`;

const [sqlite, postgres] = databases;

describe('the catalog of SQLite', () => {
  let database: TestDatabase;
  let catalog: Catalog;
  beforeAll(async () => {
    database = await sqlite!.create();
    for (const statement of SQLITE.split(/;\n/).filter((each) => each.trim() !== ''))
      await database.store.db.executeQuery(CompiledQuery.raw(statement));
    catalog = await readCatalog(catalogSource(database.store.db));
  });
  afterAll(() => database.drop());
  const table = (name: string) => catalog.tables.find((each) => each.name === name)!;

  it('has names with spaces and parentheses, composite keys in their order, and keys to another case', () => {
    const lines = table('Order Lines (old)');
    expect(lines.primaryKey?.columns).toEqual(['line', 'order']);
    expect(lines.foreignKeys).toMatchObject([
      {
        columns: ['order'],
        table: { name: 'orders' },
        references: ['id'],
        onDelete: 'cascade',
      },
    ]);
    expect(lines.checks).toEqual([
      { name: null, expression: "note <> 'a, (b'", columns: ['note'], validated: true },
    ]);
    expect(lines.columns.map(({ name, nullable }) => [name, nullable])).toEqual([
      ['order', false],
      ['line', false],
      ['note', true],
    ]);
  });

  it('has declared types, generated columns, named checks, uniques and partial indexes', () => {
    const orders = table('orders');
    expect(orders.columns).toMatchObject([
      { name: 'id', type: 'INTEGER', nullable: false, identity: 'by default' },
      { name: 'total', type: 'NUMERIC(10,2)', typeName: { name: 'numeric' } },
      { name: 'twice', generated: 'total * 2' },
      { name: 'code' },
      { name: 'parent' },
    ]);
    expect(orders.checks).toMatchObject([{ name: 'positive', expression: 'total >= 0 /* ) */' }]);
    expect(orders.uniques.map(({ columns }) => columns)).toEqual([['code']]);
    expect(orders.indexes).toMatchObject([
      { name: 'open_codes', unique: true, onExpressions: true, columns: [null], where: 'id > 2' },
    ]);
    expect(orders.triggers.map(({ name }) => name)).toEqual(['noted']);
  });

  it('reads the other views when one is broken', () => {
    expect(table('totals')).toMatchObject({ kind: 'view' });
    expect(table('totals').columns.map(({ name }) => name)).toEqual(['id', 'total']);
    expect(table('broken').columns).toEqual([]);
  });
});

describe.skipIf(postgres!.missing !== null)('the catalog of PostgreSQL', () => {
  let database: TestDatabase;
  let catalog: Catalog;
  const statements: string[] = [];
  beforeAll(async () => {
    database = await postgres!.create();
    await database.store.db.executeQuery(CompiledQuery.raw(POSTGRES));
    const source = catalogSource(database.store.db);
    catalog = await readCatalog(
      { ...source, rows: (sql, values) => (statements.push(sql), source.rows(sql, values)) },
      { schemas: ['shop', 'absent'] },
    );
  });
  afterAll(() => database.drop());
  const table = (name: string) => catalog.tables.find((each) => each.name === name)!;

  it('has every kind of column with its type as written', () => {
    expect(table('City')).toMatchObject({ comment: 'where people are', rowSecurity: true });
    expect(table('City').columns).toMatchObject([
      { name: 'id', type: 'bigint', identity: 'always', nullable: false },
      { name: 'country' },
      { name: 'region_code' },
      { name: 'mood', typeKind: 'enum', typeName: { schema: 'shop', name: 'mood' } },
      { name: 'labels', type: 'text[]', typeKind: 'array', typeName: { name: 'text' } },
      { name: 'made', typeKind: 'domain', typeName: { schema: 'shop', name: 'year' } },
      { name: 'price', type: 'numeric(10,2)', comment: 'in euro' },
      { name: 'twice', generated: '(price * (2)::numeric)', default: null },
      { name: 'seq', default: `nextval('shop."City_seq_seq"'::regclass)` },
    ]);
  });

  it('has keys of several columns, exclusions, checks and indexes with their conditions', () => {
    const city = table('City');
    expect(city.foreignKeys).toMatchObject([
      {
        columns: ['region_code', 'country'],
        table: { schema: 'shop', name: 'region' },
        references: ['code', 'country'],
        onDelete: 'set null',
        onUpdate: 'no action',
        deferrable: true,
      },
    ]);
    expect(table('region').primaryKey?.columns).toEqual(['code', 'country']);
    expect(city.checks).toMatchObject([{ columns: ['price'], expression: 'price > (0)::numeric' }]);
    expect(city.exclusions).toHaveLength(1);
    expect(city.uniques.map(({ columns }) => columns)).toEqual([['seq']]);
    expect(city.indexes).toMatchObject([
      {
        name: 'priced',
        unique: true,
        columns: [null, 'seq'],
        onExpressions: true,
        where: '(price IS NOT NULL)',
      },
    ]);
  });

  it('has views, partitions, enums, domains, sequences, functions, triggers, policies and the role', () => {
    expect(catalog.schemas).toEqual(['shop']);
    expect(catalog.tables.map(({ name, kind }) => [name, kind])).toEqual([
      ['City', 'table'],
      ['dear', 'view'],
      ['kept', 'materialized view'],
      ['log', 'table'],
      ['log_1', 'table'],
      ['region', 'table'],
    ]);
    expect(table('log').partitioned).toBe(true);
    expect(table('log_1').partitionOf).toEqual({ schema: 'shop', name: 'log' });
    expect(catalog.enums).toMatchObject([{ name: 'mood', values: ['sad', 'so-so', 'glad'] }]);
    expect(catalog.domains).toMatchObject([
      {
        name: 'year',
        type: 'integer',
        nullable: false,
        default: '2000',
        checks: [{ name: 'year_check' }],
      },
    ]);
    expect(catalog.sequences.map(({ ownedBy }) => ownedBy?.column)).toEqual(['id', 'seq']);
    expect(catalog.functions).toMatchObject([
      { name: 'f', parameters: 'a integer, OUT b text' },
      { name: 't' },
    ]);
    expect(table('City').triggers.map(({ name }) => name)).toEqual(['noted']);
    expect(table('City').policies).toMatchObject([
      { name: 'mine', command: 'select', roles: ['public'] },
    ]);
    expect(catalog.role).toEqual({ name: 'postgres', bypassesRowSecurity: true });
  });

  it('takes at most 20 statements, each of which only reads', () => {
    expect(statements.length).toBeLessThanOrEqual(13);
    expect(statements.filter((sql) => !/^\s*select/.test(sql))).toEqual([]);
  });
});
