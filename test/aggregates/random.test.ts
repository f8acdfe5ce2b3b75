import { describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { mayRead } from './oracle.ts';
import { plainDecimals, settleItems } from './settle.ts';
import { randomAsk } from './random-ask.ts';
import { CALLERS, type Items, randomItems } from './random-items.ts';

/** More of them: AGGREGATE_SEEDS=1000 AGGREGATE_SEED=1 npx vitest run test/aggregates */
const SEEDS = Number(process.env['AGGREGATE_SEEDS'] ?? 4);
const SEED = Number(process.env['AGGREGATE_SEED'] ?? 11);
const ASKS = Number(process.env['AGGREGATE_ASKS'] ?? 12);
const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index);

describe.each(databases)(
  'graphql-2 acceptance 6: random aggregates and groups on %s',
  (database) => {
    it.each(seeds)(
      'are what an oracle counts by hand, in one statement for each root field, seed %i',
      { timeout: 120_000 },
      async (seed) => {
        const random = createRandom(seed);
        const items = randomItems(random);
        const server = await startServer(items.sdl, { database, manifest: items.manifest });
        try {
          await settleItems(server, items);
          for (const caller of CALLERS)
            if (mayRead(items.rows, caller) && mayRead(items.users, caller))
              await compare({ server, items, random, seed }, caller);
            else await expectRefusal(server, caller);
        } finally {
          await server.close();
        }
      },
    );
  },
);

/** One who may read no row at all, of the items or of the users that they belong to. */
async function expectRefusal(server: TestServer, caller: (typeof CALLERS)[number]) {
  const query = '{ itemsGroups(by: [OWNER]) { count } }';
  expect((await server.query(query, {}, caller)).errors).toMatchObject([
    { path: ['itemsGroups'], extensions: { code: 'UNAUTHENTICATED' } },
  ]);
}

interface Comparing {
  readonly server: TestServer;
  readonly items: Items;
  readonly random: Random;
  readonly seed: number;
}

async function compare(
  { server, items, random, seed }: Comparing,
  caller: (typeof CALLERS)[number],
) {
  for (let index = 0; index < ASKS; index += 1) {
    const { text, variables, data, errors, roots } = randomAsk(random, items, caller);
    server.statements();
    const answer = await server.query(text, variables, caller);
    const statements = server.statements().length;
    const about = { seed, caller, text, variables };
    const found = (answer.errors ?? []).map(
      ({ path, extensions, message }) =>
        `${path?.join('.')} ${path ? (extensions?.code ?? message) : message}`,
    );
    expect({ ...about, errors: found.toSorted() }).toEqual({ ...about, errors });
    expect({ ...about, data: plainDecimals(answer.data) }).toEqual({
      ...about,
      data: plainDecimals(data),
    });
    if (statements === roots) continue;
    // SQLite refuses a sum beyond 64 bits once: from then on the statement adds up without limits.
    expect({ ...about, database: server.store.dialect }).toEqual({ ...about, database: 'sqlite' });
    server.statements();
    await server.query(text, variables, caller);
    expect({ ...about, again: server.statements().length }).toEqual({ ...about, again: roots });
  }
}
