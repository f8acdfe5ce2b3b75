import type { Project } from '@twofold/schema';
import type { Store } from '../../runtime/core/store/store.ts';
import { openDatabase, projectOf } from '../graphql/harness.ts';
import { randomQuery, type RandomQuery } from '../graphql/random-query.ts';
import { createRandom } from '../graphql/random-schema.ts';
import { randomRules, randomShape, type Shape } from './random-rules.ts';

/** Two databases with the same tables, which many sets of rules use one after another, and operations that suit all of them. */
export interface Place {
  readonly database: 'sqlite' | 'postgres';
  readonly shape: Shape;
  readonly queries: readonly RandomQuery[];
  readonly stores: readonly [Store, Store];
  close(): Promise<void>;
}

export async function openPlace(
  database: Place['database'],
  seed: number,
  queries: number,
): Promise<Place> {
  const random = createRandom(seed);
  const shape = randomShape(random);
  const { sdl, manifest } = randomRules(random, '', shape);
  const project = projectOf(sdl, manifest);
  const opened = await Promise.all([
    openDatabase(project, { database, pool: 2 }),
    openDatabase(project, { database, pool: 2 }),
  ]);
  return {
    database,
    shape,
    queries: Array.from({ length: queries }, () => randomQuery(random, project, false, true)),
    stores: [opened[0].store, opened[1].store],
    close: async () => {
      for (const { close } of opened) await close();
    },
  };
}

/** Without the limits that random operations exceed. */
export const unlimited = (project: Project): Project => ({
  ...project,
  api: {
    ...project.api,
    limits: {
      ...project.api.limits,
      depth: 99,
      cost: Number.MAX_SAFE_INTEGER,
      aliases: 1e4,
      tokens: 1e6,
      directives: 1e4,
      rootFields: 99,
      time: 600_000,
    },
  },
});
