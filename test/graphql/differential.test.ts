import { describe, expect, it } from 'vitest';
import { compareAnswers } from './differential.ts';
import { databases } from './harness.ts';

/** How much of it runs here; `run-differential.ts` is the long run. */
const SCHEMAS = Number(process.env['DIFFERENTIAL_SCHEMAS'] ?? 6);
const QUERIES = Number(process.env['DIFFERENTIAL_QUERIES'] ?? 100);
const SEED = Number(process.env['DIFFERENTIAL_SEED'] ?? 1);

const seeds = Array.from({ length: SCHEMAS }, (_, index) => SEED + index);

describe.each(databases)('on %s', (database) => {
  it.each(seeds)(
    'answers what graphql-js with plain resolvers answers, in one statement a root field, seed %i',
    async (seed) => {
      const { operations, statements } = await compareAnswers({
        seed,
        database,
        holes: 0,
        queries: QUERIES,
        execution: 'planned',
      });
      expect([operations, statements > 0]).toEqual([QUERIES, true]);
    },
  );

  it.each(seeds)(
    'answers the same when functions of the user’s do, with one statement for each loader and level, seed %i',
    async (seed) => {
      const { operations, statements } = await compareAnswers({
        seed: seed + 1000,
        database,
        holes: 0,
        queries: QUERIES,
        execution: 'unplanned',
      });
      expect([operations, statements > 0]).toEqual([QUERIES, true]);
    },
  );

  it.each(seeds)('has the same errors and nulls where rows are missing, seed %i', async (seed) => {
    const execution = seed % 2 === 0 ? 'planned' : 'unplanned';
    const { operations } = await compareAnswers({
      seed: seed + 500,
      database,
      holes: 10,
      queries: QUERIES,
      execution,
    });
    expect(operations).toBe(QUERIES);
  });
});
