import { describe, expect, test } from 'vitest';
import { createRandom } from '../generator/random.ts';
import { randomModel, seedsToRun } from './random-model.ts';
import { serveMutations } from './serve-mutations.ts';

const SEEDS = seedsToRun(12);

describe('what api.crud writes for ordinary names', () => {
  test(
    `serves each mutation by GraphQL and REST, for ${SEEDS.length} random models`,
    { timeout: 60_000 + SEEDS.length * 10_000 },
    async () => {
      const problems: string[] = [];
      for (const seed of SEEDS) {
        const sdl = randomModel(createRandom(seed));
        const found = await serveMutations(sdl).catch(({ message }: Error) => [message]);
        problems.push(...found.map((each) => `${seed}: ${each}`));
      }
      expect(problems).toEqual([]);
    },
  );
});
