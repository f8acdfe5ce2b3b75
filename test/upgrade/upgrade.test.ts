import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveRegistry } from '../../release/registry.ts';
import { createRandom } from '../generator/random.ts';
import { checkUpgrade } from './check-upgrade.ts';
import { LATER, later, NEXT, next } from './made-up.ts';
import { checkRegistry } from './check-registry.ts';
import { madeUp, packsIn, type Release, released, releasedVersions } from './releases.ts';
import { commit, link, makeSubject, stateOf, type Subject, succeed, upgrade } from './subject.ts';

// `npm run test:upgrade` checks twenty projects from every release; CI checks the first one.
const PROJECTS = Number(process.env['UPGRADE_PROJECTS'] ?? 1);
const SEED = Number(process.env['UPGRADE_SEED'] ?? 1);

let [second, third]: Release[] = [];
const subjects: Subject[] = [];
const subject = async (at: number, from: Release) => {
  const made = await makeSubject(at, from, createRandom(SEED * 1000 + at));
  subjects.push(made);
  return made;
};

beforeAll(async () => {
  [second, third] = [await madeUp(NEXT, next), await madeUp(LATER, later)];
}, 600_000);
afterAll(() => subjects.forEach((each) => each.remove()));

describe.each(releasedVersions())('a project of %s', (version) => {
  const from = released(version);

  it.each(Array.from({ length: PROJECTS }, (_, at) => at))(
    'number %i keeps every edit, its types, tests, schema, rows and answers',
    async (at) => {
      await checkUpgrade(await subject(at, from), from, second!);
    },
    300_000,
  );

  it.each(PROJECTS > 1 ? ['npm'] : [])(
    'follows the registry with %s, with its lockfile, when the installed generator is told to',
    async () => {
      const packs = [from, second!].flatMap(({ packs: folder }) => packsIn(folder));
      const registry = await serveRegistry(packs);
      try {
        await checkRegistry(registry.url, from, second!);
      } finally {
        await registry.close();
      }
    },
    600_000,
  );

  // Each template and a random schema; in CI the first template.
  it.each(PROJECTS > 1 ? [0, 1, 2, 3, 4] : [0])(
    'number %i is the same after one jump as after one step at a time',
    async (at) => {
      const [jump, steps] = [await subject(at, from), await subject(at, from)];
      await succeed(upgrade(jump.root, third!));
      await succeed(upgrade(steps.root, second!));
      commit(steps.root);
      link(steps.root, second!);
      await succeed(upgrade(steps.root, third!));
      expect(stateOf(steps.root)).toEqual(stateOf(jump.root));
    },
    300_000,
  );
});
