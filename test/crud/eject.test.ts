import { buildSchema, printSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ejectableNames, ejectedSdl, withDefinition } from '../../generator/edit/ejected-sdl.ts';
import type { Project } from '../../schema/index.ts';
import { createRandom } from '../generator/random.ts';
import { read } from '../schema/reading.ts';
import { MANIFEST, SCHEMAS, sdlOf } from './schemas.ts';

/** `CRUD_EJECT=1`: each name. */
const sample = (names: readonly string[]) =>
  names.filter((_name, index) => process.env['CRUD_EJECT'] !== undefined || index % 15 === 0);

const apiOf = ({ sdl }: Project) => printSchema(buildSchema(sdl));

function projectOf(sdl: string): Project {
  const { project, diagnostics } = read(sdl, MANIFEST);
  if (!project) throw new Error(JSON.stringify(diagnostics, null, 1));
  return project;
}

describe.each(SCHEMAS)('SDL that is written for the schema %s', (name) => {
  const sdl = sdlOf(name);

  test('is inferred and served as a whole: Acceptance 5', () => {
    const { diagnostics } = read(sdl, MANIFEST);
    expect(
      diagnostics.filter(
        ({ at, severity }) => at.file !== 'schema.graphql' || severity === 'error',
      ),
    ).toEqual([]);
    const { operations } = projectOf(sdl);
    const own = operations.filter(({ action }) => action.kind === 'custom');
    expect(own.map(({ decidedBy }) => decidedBy)).toEqual(own.map(() => '@resolve'));
  });

  test('makes the same API when each definition in turn is moved into the schema', () => {
    const before = projectOf(sdl);
    for (const each of sample(ejectableNames(before.crudSdl!))) {
      const after = projectOf(withDefinition(sdl, ejectedSdl(before.crudSdl!, each)!));
      expect(apiOf(after), each).toBe(apiOf(before));
      expect(ejectableNames(after.crudSdl!), each).not.toContain(each);
      expect(after.operations.length, each).toBe(before.operations.length);
    }
  });

  test('makes the same API after eject crud, and when all are moved one by one in any order', () => {
    const before = projectOf(sdl);
    const moved = projectOf(withDefinition(sdl, ejectedSdl(before.crudSdl!, 'crud')!));
    expect(moved.crudSdl).toBeUndefined();
    expect(apiOf(moved)).toBe(apiOf(before));
    const random = createRandom(7);
    let text = sdl;
    for (let now = before; now.crudSdl !== undefined; now = projectOf(text)) {
      const names = ejectableNames(now.crudSdl);
      for (let some = 0; some < 12 && names.length > 0; some++) {
        const [name = ''] = names.splice(random.whole(names.length), 1);
        const moved = ejectedSdl(now.crudSdl, name)!;
        text = withDefinition(text, moved);
        // The next ones extend the type, which the text of this run does not know yet.
        if (moved.startsWith('type Mutation')) break;
      }
    }
    expect(apiOf(projectOf(text))).toBe(apiOf(before));
  });
});
