import type pg from 'pg';
import { isOfSearch, quotedName } from '@twofold/runtime/store';
import type { Catalog } from '../catalog/catalog.ts';
import type { LoadOptions } from './database.ts';
import type { MovedTable } from './moved-table.ts';
import { named } from './postgres-lines.ts';

/** Foreign keys and triggers, which would see only a part of the rows while they are loaded. */
export interface Aside {
  put(tables: readonly MovedTable[]): Promise<void>;
  bringBack(tables: readonly MovedTable[]): Promise<void>;
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

export interface AsideOptions extends LoadOptions {
  readonly catalog: Catalog;
}

/**
 * Our own tables lose their foreign keys until the rows are there: to check them all at once is
 * also much faster than row by row. Tables of others are never changed: there a role that may do so
 * switches triggers off for its session, and other roles load in the order of the keys.
 */
export function createAside(client: pg.Client, { catalog, managed }: AsideOptions): Aside {
  return managed ? changedTables(client) : changedSession(client, catalog);
}

function changedTables(client: pg.Client): Aside {
  let keys: readonly ForeignKey[] = [];
  return {
    put: async (tables) => {
      keys = await foreignKeysOf(client, tables);
      for (const { table, name } of keys)
        await client.query(`alter table ${table} drop constraint ${quotedName(name)}`);
      for (const table of tables) await disableTriggers(client, table);
    },
    bringBack: async (tables) => {
      for (const { table, name, definition } of keys)
        await client.query(`alter table ${table} add constraint ${quotedName(name)} ${definition}`);
      for (const table of tables)
        await client.query(`alter table ${named(table)} enable trigger user`);
    },
  };
}

/**
 * Disables triggers, except those that fill the index of a search: it gets its rows in no other
 * way.
 */
async function disableTriggers(client: pg.Client, table: MovedTable): Promise<void> {
  await client.query(`alter table ${named(table)} disable trigger user`);
  const { rows } = await client.query<{ name: string }>(
    'select tgname as name from pg_trigger where tgrelid = $1::text::regclass and not tgisinternal',
    [named(table)],
  );
  for (const { name } of rows.filter((each) => isOfSearch(each.name)))
    await client.query(`alter table ${named(table)} enable trigger ${quotedName(name)}`);
}

async function foreignKeysOf(
  client: pg.Client,
  tables: readonly MovedTable[],
): Promise<readonly ForeignKey[]> {
  const { rows } = await client.query(
    `select conrelid::regclass::text as "table", conname::text as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and conparentid = 0 and conrelid = any ($1::text[]::regclass[]) order by 1, 2`,
    [tables.map(named)],
  );
  return rows;
}

function changedSession(client: pg.Client, catalog: Catalog): Aside {
  let unchecked = false;
  return {
    put: async () => {
      unchecked = await withoutTriggers(client);
      if (!unchecked) await client.query('set constraints all deferred');
    },
    bringBack: async (tables) => {
      if (unchecked) await client.query(`set local session_replication_role = 'origin'`);
      await client.query('set constraints all immediate');
      if (unchecked) for (const table of tables) await assertReferences(client, table, catalog);
    },
  };
}

/**
 * Switches triggers off for the connection. Only a superuser, or a role with this right, may do so.
 * @returns whether it worked.
 */
async function withoutTriggers(client: pg.Client): Promise<boolean> {
  await client.query('savepoint aside');
  try {
    await client.query(`set local session_replication_role = 'replica'`);
    return true;
  } catch {
    await client.query('rollback to savepoint aside');
    return false;
  }
}

/** Checks all foreign keys, because the database did not check them while triggers were off. */
async function assertReferences(
  client: pg.Client,
  table: MovedTable,
  catalog: Catalog,
): Promise<void> {
  const facts = catalog.tables.find(
    ({ schema, name }) => schema === table.schema && name === table.name,
  );
  for (const { columns, references, table: other, name } of facts?.foreignKeys ?? []) {
    const equal = columns.map(
      (column, at) => `o.${quotedName(references[at]!)} = t.${quotedName(column)}`,
    );
    const given = columns.map((column) => `t.${quotedName(column)} is not null`);
    const { rows } = await client.query(
      `select 1 from ${named(table)} t where ${given.join(' and ')} and not exists (select from ${named(other)} o where ${equal.join(' and ')}) limit 1`,
    );
    if (rows.length > 0)
      throw new Error(
        `rows of ${table.name} refer to rows of ${other.name} that are not there (${name})`,
      );
  }
}
