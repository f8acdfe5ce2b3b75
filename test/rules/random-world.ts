import { sql } from 'kysely';
import type { Project } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { fillSearches } from '../graphql/random-data.ts';
import type { Random } from '../graphql/random-schema.ts';
import { oracleOf, type World } from './oracle.ts';
import { lower, NEXT, randomValue, type Row, TYPES } from './random-conditions.ts';
import type { Ruled } from './random-rules.ts';

const ROWS = 6;
const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  User: { boss_id: 'User' },
  Member: { user_id: 'User', alpha_id: 'Alpha' },
  ...Object.fromEntries(
    TYPES.map((type) => [
      type,
      { owner_id: 'User', [`${lower(NEXT[type]!)}_id`]: NEXT[type]!, parent_id: type },
    ]),
  ),
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  User: ['name'],
  Member: ['role'],
  ...Object.fromEntries(
    TYPES.map((type) => [type, ['label', 'number', 'flag', 'kind', 'at', 'secret']]),
  ),
};
const REQUIRED = new Set(['name', 'label', 'flag']);

export const keysOf = (type: string) => KEYS[type]!;

export function randomWorld(random: Random, { soft }: Ruled): World {
  const rows = new Map<string, Row[]>();
  for (const type of Object.keys(KEYS))
    rows.set(
      type,
      Array.from({ length: ROWS }, (_, index) =>
        randomRow(random, type, index + 1, soft.has(type)),
      ),
    );
  const fans = new Set(
    Array.from({ length: 8 }, () => `${1 + random.below(ROWS)} ${1 + random.below(ROWS)}`),
  );
  const pairs = [...fans].map((pair) => pair.split(' ').map(Number));
  return {
    rows,
    pairs: new Map([['alpha_fans', pairs.map(([alpha_id, user_id]) => ({ alpha_id, user_id }))]]),
  };
}

function randomRow(random: Random, type: string, id: number, isSoft: boolean): Row {
  const row: Record<string, unknown> = { id };
  for (const column of VALUES[type]!)
    row[column] =
      !REQUIRED.has(column) && random.chance(0.25)
        ? null
        : column === 'secret'
          ? `secret ${type} ${id}`
          : randomValue(random, column);
  for (const [column, to] of Object.entries(KEYS[type]!))
    row[column] = random.chance(0.2) ? null : 1 + random.below(to ? ROWS : 1);
  if (isSoft) row['deleted_at'] = random.chance(0.35) ? '2026-05-01T00:00:00.000Z' : null;
  return row;
}

/** What is there for a caller: rows and values that they may read, found row by row. */
export function visibleWorld({ rules }: Ruled, world: World, caller: Principal): World {
  const oracle = oracleOf(world, caller);
  const sees = (at: string, type: string, row: Row) =>
    oracle.allows(rules.get(at) ?? [], type, row, 'READ');
  const seen = new Map(
    [...world.rows].map(([type, rows]) => [
      type,
      rows.filter((row) => !row['deleted_at'] && sees(type, type, row)),
    ]),
  );
  const isSeen = (type: string, id: unknown) => seen.get(type)!.some((row) => row['id'] === id);
  const shown = (type: string, row: Row): Row => {
    const copy: Record<string, unknown> = { ...row };
    for (const [column, to] of Object.entries(KEYS[type]!))
      if (!isSeen(to, row[column])) copy[column] = null;
    if ('secret' in row && !sees(`${type}.secret`, type, row)) copy['secret'] = null;
    if ('owner_id' in row && !sees(`${type}.owner`, type, row)) copy['owner_id'] = null;
    return copy;
  };
  const fans = world.pairs.get('alpha_fans') ?? [];
  return {
    rows: new Map([...seen].map(([type, rows]) => [type, rows.map((row) => shown(type, row))])),
    pairs: new Map([
      [
        'alpha_fans',
        fans.filter((pair) => isSeen('Alpha', pair['alpha_id']) && isSeen('User', pair['user_id'])),
      ],
    ]),
  };
}

/** Puts the rows of a world into tables, in place of what is there. */
export async function settle(project: Project, store: Store, world: World) {
  const bit = (value: unknown) =>
    store.dialect === 'sqlite' && typeof value === 'boolean' ? Number(value) : value;
  await store.structuralTransaction(async (trx) => {
    if (store.dialect === 'postgres')
      await sql`set local session_replication_role = replica`.execute(trx);
    for (const { name, table, columns } of project.entities) {
      await trx.deleteFrom(table).execute();
      const email = columns.some((column) => column.name === 'email');
      for (const { id, ...row } of world.rows.get(name) ?? [])
        await trx
          .insertInto(table)
          .values({
            ...Object.fromEntries(Object.entries(row).map(([key, value]) => [key, bit(value)])),
            ...(email && { email: `u${id}@x.org` }),
            id,
          })
          .execute();
      if (store.dialect === 'postgres')
        await sql`select setval(pg_get_serial_sequence(${table}, 'id'), 100)`.execute(trx);
    }
    for (const [table, pairs] of world.pairs) {
      await trx.deleteFrom(table).execute();
      for (const pair of pairs) await trx.insertInto(table).values(pair).execute();
    }
    if (store.dialect === 'postgres') await fillSearches(project, trx);
  });
}
