import { describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import type { Entity } from '@twofold/schema';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { authMigrations } from '../../runtime/auth/migrations.ts';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { databases } from '../graphql/harness.ts';
import { fillSearches } from '../graphql/random-data.ts';
import { randomQuery } from '../graphql/random-query.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { type RestServer, startRest } from '../rest/harness.ts';
import { randomTenants, type Tenants } from './random-tenants.ts';
import { randomFigure } from './tenant-figures.ts';
import { type Calling, randomRead, randomWrite, type TenantCall } from './tenant-calls.ts';

/** More of them: LEAK_SCHEMAS=200 LEAK_SEED=1000 npx vitest run test/leak/random-tenants.test.ts */
const SCHEMAS = Number(process.env['LEAK_SCHEMAS'] ?? 4);
const SEED = Number(process.env['LEAK_SEED'] ?? 1);
const ROUNDS = 25;
const ROWS = 9;
const seeds = Array.from({ length: SCHEMAS }, (_, index) => SEED + index);

type Row = Record<string, unknown>;
type World = ReadonlyMap<string, readonly Row[]>;

/** The organization of each row of a type, by key: both have some, and the last one is of the first. */
const sidesOf = (random: Random) =>
  Array.from({ length: ROWS }, (_, index) =>
    index === ROWS - 1 || index === 0 ? 1 : index === ROWS - 2 ? 2 : 1 + random.below(2),
  );
const USER_SIDES = [1, 2, 1, 2, 2, 1];
const COMPANY_SIDES = [1, 2];

const keysIn = (sides: readonly number[], side: number) =>
  sides.flatMap((each, index) => (each === side ? [index + 1] : []));

/** Rows of two organizations that refer only to rows of their own. */
function worldOf(random: Random, entities: readonly Entity[], sides: Sides): World {
  const peers = (entity: string, side: number) => keysIn(sides.get(entity)!, side);
  const rowOf = (entity: Entity, side: number, id: number): Row =>
    Object.fromEntries(
      entity.columns.map(({ name, scalar, required, references }) => {
        if (name === 'id') return [name, id];
        // The last rows refer to each other, so that none of them goes with another row.
        if (references && references.entity !== 'User' && id === ROWS)
          return [name, peers(references.entity, 1).at(-1)];
        if (!required && random.chance(0.2)) return [name, null];
        if (references) return [name, random.pick(peers(references.entity, side))];
        if (scalar === 'Int') return [name, random.below(6)];
        if (name === 'label')
          return [name, id === ROWS ? 'last' : random.pick(['ant', 'bee', 'cat'])];
        return [name, name === 'code' ? `c${id}` : `${name} of ${entity.name} ${id} in ${side}`];
      }),
    );
  return new Map(
    entities.map((entity) => [
      entity.name,
      sides.get(entity.name)!.map((side, index) => rowOf(entity, side, index + 1)),
    ]),
  );
}

type Sides = ReadonlyMap<string, readonly number[]>;

/** Fills a server, of `only` with the rows of the first organization alone. */
async function settle(server: RestServer, world: World, sides: Sides, more: Settling) {
  const { store, project } = server;
  await migrate(store, authMigrations(DEFAULT_AUTH.user, project.ids, true));
  await store.structuralTransaction(async (trx) => {
    if (store.dialect === 'postgres')
      await sql`set local session_replication_role = replica`.execute(trx);
    for (const { name, table } of project.entities) {
      for (const { id: _id, ...values } of world.get(name) ?? [])
        await trx.insertInto(table).values(values).execute();
      const foreign = keysIn(sides.get(name)!, 2);
      if (more.only) await trx.deleteFrom(table).where('id', 'in', foreign).execute();
    }
    if (store.dialect === 'postgres') await fillSearches(project, trx);
    const members = [
      ...USER_SIDES.map((side, index) => [side, index + 1]),
      ...(more.inBoth ? [[2, 1]] : []),
    ].filter(([side]) => !more.only || side === 1);
    for (const [organization_id, user_id] of members)
      await trx
        .insertInto('auth_members')
        .values({ organization_id, user_id, role: 'Member', created_at: 0 })
        .execute();
  });
}

interface Settling {
  readonly only: boolean;
  readonly inBoth: boolean;
}

interface Caller {
  readonly principal: Principal;
  readonly inBoth: boolean;
}

/** Members with each role, one of both organizations whose request names the first, and a key that is bound to it. */
function callersOf(): Caller[] {
  const user = {
    kind: 'user',
    id: 1,
    role: null,
    permissions: [],
    sessionId: 's',
    extend: {},
  } as const;
  const as = (role: string) => [{ id: 1, role }];
  return [
    { principal: { ...user, organizations: as('Owner') }, inBoth: false },
    { principal: { ...user, organizations: as('Member') }, inBoth: false },
    { principal: { ...user, organizations: as('Owner'), narrowed: true }, inBoth: true },
    {
      principal: {
        kind: 'api_key',
        id: 'k',
        scopes: ['*'],
        userId: null,
        organizations: [{ id: 1, role: null }],
        narrowed: true,
      },
      inBoth: false,
    },
  ];
}

async function answerOf(server: RestServer, principal: Principal, call: TenantCall): Promise<any> {
  if (call.kind === 'graphql') return server.query(call.text, { ...call.variables }, principal);
  if (call.kind === 'rest') {
    const { status, body } = await server.call(call.method, call.path, {
      as: principal,
      ...(call.body && { body: call.body }),
    });
    return { status, body };
  }
  const parts = { store: server.store, log: { child: () => ({}) } as never };
  const context: any = systemContext(parts).sudo();
  context.principal = principal;
  return context.data[call.entity][call.method](call.given).then(
    (value: unknown) => JSON.parse(JSON.stringify({ value })),
    ({ message, code, extensions }: any) => ({ message, code, extensions }),
  );
}

/** Whether an answer has something to say. */
const isDone = (answer: any) =>
  !answer.errors && !answer.message && !(answer.status >= 400) && answer.value !== null;

/** Two servers, of which one has only the first organization. */
interface Pair {
  readonly tenants: Tenants;
  readonly caller: Caller;
  readonly both: RestServer;
  readonly one: RestServer;
}

/** @returns how many calls of each kind were answered without an error. */
async function compareAll(calling: Calling, { tenants, caller, both, one }: Pair) {
  const done = { reads: 0, writes: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const query = randomQuery(calling.random, both.project, false);
    const calls: readonly TenantCall[] = [
      { kind: 'graphql', ...query },
      randomRead(calling),
      randomFigure(calling),
      randomWrite(calling),
    ];
    for (const call of calls) {
      const { principal } = caller;
      const seen = await answerOf(both, principal, call);
      const expected = await answerOf(one, principal, call);
      expect({ sdl: tenants.sdl, principal, call, seen }).toEqual({
        sdl: tenants.sdl,
        principal,
        call,
        seen: expected,
      });
      if (isDone(seen)) done[call === calls.at(-1) ? 'writes' : 'reads'] += 1;
    }
  }
  return done;
}

describe.each(databases)('auth-2 acceptance 9: random schemas with TENANT on %s', (database) => {
  it.each(seeds)(
    'two organizations are answered as a server with only that one, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = createRandom(seed);
      const tenants = randomTenants(random);
      const callers = callersOf();
      const caller = callers[seed % callers.length]!;
      const options = { manifest: tenants.manifest, database };
      const both = await startRest(tenants.sdl, options);
      const one = await startRest(tenants.sdl, options);
      try {
        const { entities } = both.project;
        const sides = new Map<string, readonly number[]>(
          entities.map(({ name }) => [name, sidesOf(random)]),
        );
        sides.set('User', USER_SIDES).set('Company', COMPANY_SIDES);
        const world = worldOf(random, entities, sides);
        const { inBoth } = caller;
        await settle(both, world, sides, { only: false, inBoth });
        await settle(one, world, sides, { only: true, inBoth });
        const own = new Map([...sides].map(([name, all]) => [name, keysIn(all, 1)]));
        const theirs = await foreignRows(both, sides);
        const done = await compareAll(
          { random, shapes: tenants.shapes, own },
          { tenants, caller, both, one },
        );
        expect(await foreignRows(both, sides)).toEqual(theirs);
        expect(done.reads).toBeGreaterThan(ROUNDS / 2);
        expect(done.writes).toBeGreaterThan(ROUNDS / 8);
      } finally {
        await both.close();
        await one.close();
      }
    },
  );
});

/** The rows of the other organization, none of which changes. */
async function foreignRows({ store, project }: RestServer, sides: Sides) {
  const found: unknown[] = [];
  for (const { name, table } of project.entities) {
    const ids = keysIn(sides.get(name)!, 2);
    found.push(
      await store.db.selectFrom(table).selectAll().where('id', 'in', ids).orderBy('id').execute(),
    );
  }
  return found;
}
