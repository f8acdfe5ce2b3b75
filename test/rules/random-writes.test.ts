import { describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { oracleOf, type World } from './oracle.ts';
import {
  CALLERS,
  lower,
  NEXT,
  randomValue,
  type Row,
  type Rule,
  TYPES,
} from './random-conditions.ts';
import { MANIFEST, randomRuled, type Ruled } from './random-rules.ts';
import { keysOf, randomWorld, settle } from './random-world.ts';

/** More of them: RULES_SEEDS=1000 RULES_SEED=1 npx vitest run test/rules/random-writes.test.ts */
const SEEDS = Number(process.env['RULES_SEEDS'] ?? 2);
const SEED = Number(process.env['RULES_SEED'] ?? 1);
const WRITES = 12;
const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index);

describe.each(databases)('graphql-2 acceptance 3: random writes under rules on %s', (database) => {
  it.each(seeds)(
    'change what an oracle changes by hand, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = createRandom(seed);
      const ruled = randomRuled(random);
      const server = await startServer(ruled.sdl, { database, manifest: MANIFEST });
      try {
        for (const caller of CALLERS) {
          let world = randomWorld(random, ruled);
          await settle(server.project, server.store, world);
          for (let index = 0; index < WRITES; index++) {
            const write = randomWrite(random);
            const { errors } = await server.query(
              `mutation { ${write.text} { id } }`.replace(/(delete\w+\([^)]*\)) \{ id \}/, '$1'),
              {},
              caller,
            );
            const codes = (errors ?? []).map(
              ({ extensions, message }) => `${extensions?.code} ${message}`,
            );
            const made = await madeId(server, write.type, world);
            const expected = perform(ruled, world, caller, { ...write, made });
            const found = await read(server);
            expect({ seed, caller, write: write.text, codes, sdl: ruled.sdl, rows: found }).toEqual(
              {
                seed,
                caller,
                write: write.text,
                codes,
                sdl: ruled.sdl,
                rows: listed(expected),
              },
            );
            world = expected;
          }
        }
      } finally {
        await server.close();
      }
    },
  );
});

/** The key of a new row, which the database makes. */
async function madeId({ project, store }: TestServer, type: string, world: World): Promise<number> {
  const { table } = project.entities.find(({ name }) => name === type)!;
  const known = new Set(world.rows.get(type)!.map(({ id }) => id));
  const rows = await store.db.selectFrom(table).select('id').execute();
  return Number(rows.find(({ id }) => !known.has(Number(id)))?.['id'] ?? 1000);
}

interface Write {
  readonly kind: 'create' | 'update' | 'delete';
  readonly type: string;
  readonly id: number;
  /** By column. */
  readonly values: Row;
  readonly text: string;
  readonly made?: number;
}

function randomWrite(random: Random): Write {
  const type = random.pick(TYPES);
  const kind = random.pick(['create', 'update', 'update', 'update', 'delete'] as const);
  const id = 1 + random.below(7);
  if (kind === 'delete') return { kind, type, id, values: {}, text: `delete${type}(id: ${id})` };
  const values: Record<string, unknown> = {};
  const args: string[] = [];
  const set = (column: string, name: string, value: unknown) => {
    values[column] = value;
    args.push(
      `${name}: ${column === 'kind' && value !== null ? String(value) : JSON.stringify(value)}`,
    );
  };
  for (const column of ['label', 'number', 'kind', 'flag'])
    if ((kind === 'create' && (column === 'label' || column === 'flag')) || random.chance(0.3))
      set(
        column,
        column,
        column === 'label' || column === 'flag' || random.chance(0.8)
          ? randomValue(random, column)
          : null,
      );
  for (const column of Object.keys(keysOf(type)))
    if (random.chance(0.3))
      set(
        column,
        column.replace('_id', 'Id'),
        random.chance(0.2) ? null : random.pick([1, 2, 3, 4, 5, 6, 99]),
      );
  if (kind === 'update') args.unshift(`id: ${id}`);
  return { kind, type, id, values, text: `${kind}${type}(${args.join(', ')})` };
}

/** The world after a mutation: the same when the caller may not do it. */
function perform(ruled: Ruled, world: World, caller: Principal, write: Write): World {
  const { type, kind, id, values } = write;
  const rules = ruled.rules.get(type) ?? [];
  const may = (in_: World, row: Row, verb: 'READ' | 'CREATE' | 'UPDATE' | 'DELETE') =>
    oracleOf(in_, caller).allows(rules, type, row, verb);
  const sees = (to: string, key: unknown) => {
    const row = world.rows.get(to)!.find((each) => each['id'] === key);
    return (
      row &&
      !row['deleted_at'] &&
      oracleOf(world, caller).allows(ruled.rules.get(to) ?? [], to, row, 'READ')
    );
  };
  for (const [column, to] of Object.entries(keysOf(type)))
    if (values[column] !== undefined && values[column] !== null && !sees(to, values[column]))
      return world;
  if (kind === 'create') {
    const row = {
      ...emptyRow(ruled, type, write.made ?? 0),
      ...owned(rules, caller, values),
      ...values,
    };
    const after = withRow(world, type, row);
    return may(after, row, 'CREATE') ? after : world;
  }
  const row = world.rows.get(type)!.find((each) => each['id'] === id && !each['deleted_at']);
  if (!row || !may(world, row, kind === 'update' ? 'UPDATE' : 'DELETE')) return world;
  if (kind === 'delete') return without(ruled, world, type, row);
  const changed = { ...row, ...values };
  const after = withRow(world, type, changed);
  return may(after, changed, 'UPDATE') ? after : world;
}

function emptyRow({ soft }: Ruled, type: string, id: number): Row {
  const nothing = Object.fromEntries(
    ['number', 'kind', 'at', 'secret', ...Object.keys(keysOf(type))].map((column) => [
      column,
      null,
    ]),
  );
  return {
    ...nothing,
    id,
    ...(soft.has(type) && { deleted_at: null }),
  };
}

/** A create that leaves out a one-step owner takes the caller, where a rule makes the difference. */
function owned(rules: readonly Rule[], caller: Principal, values: Row): Row {
  const me =
    caller.kind === 'user' ? Number(caller.id) : caller.kind === 'api_key' ? caller.userId : null;
  const relevant = rules.filter(({ on }) => !on || on.includes('CREATE'));
  const isOpen = relevant.some(({ allow, where }) => !where && holdsFor(allow, caller, me));
  const takes = relevant.some(({ allow, owner }) => allow === 'OWNER' && owner === 'owner');
  return me !== null && takes && !isOpen && values['owner_id'] === undefined
    ? { owner_id: Number(me) }
    : {};
}

function holdsFor(allow: Rule['allow'], caller: Principal, me: unknown): boolean {
  if (allow === 'PUBLIC') return true;
  if (allow === 'USER') return me !== null;
  if (allow === 'API_KEY') return caller.kind === 'api_key' && me === null;
  return allow === 'ROLE' && caller.kind === 'user' && caller.role?.name === 'admin';
}

const withRow = (world: World, type: string, row: Row): World => ({
  ...world,
  rows: new Map([
    ...world.rows,
    [type, [...world.rows.get(type)!.filter(({ id }) => id !== row['id']), row]],
  ]),
});

/** Keys that referred to the row are null, and its pairs are gone. */
function without({ soft }: Ruled, world: World, type: string, row: Row): World {
  if (soft.has(type)) return withRow(world, type, { ...row, deleted_at: 'now' });
  const cleared = (of: string, each: Row): Row => {
    const keys = Object.entries(keysOf(of)).filter(
      ([column, to]) => to === type && each[column] === row['id'],
    );
    return keys.length === 0
      ? each
      : { ...each, ...Object.fromEntries(keys.map(([column]) => [column, null])) };
  };
  return {
    rows: new Map(
      [...world.rows].map(([of, rows]) => [
        of,
        rows
          .filter((each) => of !== type || each['id'] !== row['id'])
          .map((each) => cleared(of, each)),
      ]),
    ),
    pairs: new Map(
      [...world.pairs].map(([table, pairs]) => [
        table,
        pairs.filter((pair) => pair[`${lower(type)}_id`] !== row['id']),
      ]),
    ),
  };
}

/** Rows by type, in the order of their keys, as far as mutations write them. */
const listed = (world: World) =>
  Object.fromEntries(
    TYPES.map((type) => [
      type,
      world.rows
        .get(type)!
        .map((row) => shown(type, row))
        .sort(),
    ]),
  );

function shown(type: string, row: Row): string {
  const columns = [
    'id',
    'label',
    'number',
    'kind',
    'flag',
    'owner_id',
    `${lower(NEXT[type]!)}_id`,
    'parent_id',
  ];
  const value = (column: string) =>
    column === 'flag' ? Boolean(row[column]) : (row[column] ?? null);
  return JSON.stringify([
    ...columns.map((column) => [
      column,
      column === 'label' || column === 'kind' || column === 'flag'
        ? value(column)
        : value(column) === null
          ? null
          : Number(value(column)),
    ]),
    Boolean(row['deleted_at']),
  ]);
}

async function read({ project, store }: TestServer) {
  const found: Record<string, string[]> = {};
  for (const type of TYPES) {
    const { table } = project.entities.find(({ name }) => name === type)!;
    const rows = await store.db.selectFrom(table).selectAll().execute();
    found[type] = rows.map((row) => shown(type, row)).sort();
  }
  return found;
}
