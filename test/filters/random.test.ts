import { describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { createRandom } from '../graphql/random-schema.ts';
import { meets } from './oracle.ts';
import { insert, SDL } from './project.ts';
import { postFilter } from './random-filters.ts';
import { randomWorld, type World } from './random-world.ts';

/** More of them: FILTER_SEEDS=1000 FILTER_SEED=1 npx vitest run test/filters/random.test.ts */
const SEEDS = Number(process.env['FILTER_SEEDS'] ?? 3);
const SEED = Number(process.env['FILTER_SEED'] ?? 1);
const FILTERS = Number(process.env['FILTER_COUNT'] ?? 80);

async function fill({ store }: TestServer, world: World) {
  for (const table of ['comments', 'posts', 'people']) await store.db.deleteFrom(table).execute();
  for (const table of ['people', 'posts', 'comments'] as const)
    await insert(store, table, world[table]);
}

describe('graphql-2 acceptance 4: random filters on random rows with nulls', () => {
  it(
    `find what an oracle finds by hand on ${databases.join(' and ')}, seeds ${SEED} to ${SEED + SEEDS - 1}`,
    { timeout: 3_600_000 },
    async () => {
      const servers: TestServer[] = [];
      try {
        for (const database of databases)
          servers.push(
            await startServer(SDL, {
              database,
              manifest: 'name: random\napi: { access: public }\n',
            }),
          );
        for (let seed = SEED; seed < SEED + SEEDS; seed += 1) {
          const random = createRandom(seed);
          const world = randomWorld(random);
          for (const server of servers) await fill(server, world);
          for (let index = 0; index < FILTERS; index += 1) {
            const where = postFilter(random, 2);
            const expected = world.posts
              .filter((row) => meets(world, 'posts', row, where))
              .map(({ id }) => id);
            for (const server of servers) {
              const { data, errors } = await server.query(
                'query ($where: PostFilter) { posts(where: $where) { id } }',
                { where },
              );
              const found = data?.posts.map(({ id }: any) => Number(id));
              const { dialect } = server.store;
              expect({ seed, dialect, where, errors, found }).toEqual({
                seed,
                dialect,
                where,
                errors: undefined,
                found: expected,
              });
            }
          }
        }
      } finally {
        for (const server of servers) await server.close();
      }
    },
  );
});
