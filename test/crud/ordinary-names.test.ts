import { describe, expect, test } from 'vitest';
import { lostOperations } from '../../generator/edit/keep-operations.ts';
import { renameInSchema } from '../../generator/edit/rename-in-schema.ts';
import { createRandom } from '../generator/random.ts';
import { randomModel, readMended, seedsToRun } from './random-model.ts';

const SEEDS = seedsToRun(60);

function read(sdl: string, problems: string[]) {
  const found = readMended(sdl);
  problems.push(...found.errors.map(({ code, summary, why }) => `${code} ${summary}: ${why}`));
  const left = found.project?.operations.filter(
    ({ name, action }) => action.kind === 'custom' && name !== 'hello',
  );
  problems.push(...(left ?? []).map(({ name }) => `nothing answers ${name}`));
  return found;
}

describe('what api.crud writes for ordinary names', () => {
  test(`is right, answered and follows a rename, for ${SEEDS.length} random models`, () => {
    const problems: string[] = [];
    for (const seed of SEEDS) {
      const random = createRandom(seed);
      const found: string[] = [];
      const { sdl, project: before } = read(randomModel(random), found);
      if (before) {
        const from = random.pick(before.entities).name;
        const rename = { kind: 'type', from, to: `${from}Renamed` } as const;
        const files = [{ file: 'schema.graphql', text: sdl }];
        const [renamed] = renameInSchema(files, rename, { project: before, marked: false });
        const { project: after } = read(renamed!.text, found);
        if (after) found.push(...lostOperations(before, after).map(({ name }) => `lost ${name}`));
      }
      problems.push(...found.map((each) => `${seed}: ${each}`));
    }
    expect(problems).toEqual([]);
  });
});
