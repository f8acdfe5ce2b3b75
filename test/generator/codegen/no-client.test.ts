import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generator, type TestProject } from '../project.ts';
import { installed, SCHEMA, work } from './world.ts';

let modules = '';
beforeAll(async () => void (modules = await installed()));
const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const CHANGED = `${SCHEMA}\ntype Holder { id: ID! added: Added! }\nenum Added { ONE }\n`;
const CLIENT = 'client: { documents: ["../web/src/*.{ts,tsx}"], out: ../web/src/api/ }\n';
const MINE = 'plugins: [./codegen/mine.ts]';

/** A project whose outputs are made, and whose schema has changed since. */
async function changed(manifest: string): Promise<TestProject> {
  const project = work(manifest, modules);
  made.push(project);
  expect(await run(project, 'generate')).toMatchObject({ code: 0 });
  project.write('api/schema.graphql', CHANGED);
  return project;
}
const run = (project: TestProject, ...words: readonly string[]) =>
  generator([...words, '--quiet'], join(project.root, 'api'));

/** Whether the plugin has seen the new schema. */
const follows = (project: TestProject, path: string) => project.read(path).includes('"Added"');

describe('outputs of codegen: with --no-client', { timeout: 60_000 }, () => {
  it('are made inside the project, and left alone outside', async () => {
    const project = await changed(
      `name: blog\ncodegen:\n  src/names.ts: { ${MINE} }\n  ../web/src/names.ts: { ${MINE} }\n`,
    );
    expect(await run(project, 'check', '--no-client')).toMatchObject({ code: 1 });
    expect(await run(project, 'generate', '--no-client')).toMatchObject({ code: 0 });
    expect(follows(project, 'api/src/names.ts')).toBe(true);
    expect(follows(project, 'web/src/names.ts')).toBe(false);
    expect(await run(project, 'check', '--no-client')).toMatchObject({ code: 0 });
    expect(await run(project, 'check')).toMatchObject({ code: 1 });
  });

  it('are left alone where a plugin may need the documents of client:, if it does not say that it needs none', async () => {
    const project = await changed(
      `name: blog\n${CLIENT}codegen:
  src/names.ts: { ${MINE} }
  src/schema.ts: { ${MINE}, documents: [] }
  src/generated/zod.ts: { plugins: [typescript-validation-schema], config: { schema: zodv4, importFrom: ./types.ts } }
`,
    );
    expect(await run(project, 'generate', '--no-client')).toMatchObject({ code: 0 });
    expect(follows(project, 'api/src/names.ts')).toBe(false);
    expect(follows(project, 'api/src/schema.ts')).toBe(true);
    expect(project.read('api/src/generated/zod.ts')).toContain('AddedSchema');
  });

  it('keep their place in the cache', async () => {
    const project = work(
      `name: blog\ncodegen:\n  src/names.ts: { ${MINE} }\n  ../web/src/names.ts: { ${MINE} }\n`,
      modules,
    );
    made.push(project);
    await run(project, 'generate');
    const cached = () => JSON.parse(project.read('api/.generator/codegen.json'));
    const before = cached();
    expect(Object.keys(before)).toHaveLength(2);
    await run(project, 'generate', '--no-client');
    expect(cached()).toEqual(before);
  });
});

describe('the cache of codegen:', { timeout: 60_000 }, () => {
  it('spares a second process loading a plugin', async () => {
    const project = work(
      'name: blog\ncodegen:\n  src/names.ts: { plugins: [./codegen/counts.ts] }\n',
      modules,
    );
    made.push(project);
    project.write(
      'api/codegen/counts.ts',
      `import { appendFileSync } from 'node:fs';
appendFileSync(new URL('loaded', import.meta.url), 'x');
export const plugin = (schema: { getTypeMap(): object }) =>
  \`export const count = \${Object.keys(schema.getTypeMap()).length};\\n\`;
`,
    );
    const loads = () => project.read('api/codegen/loaded').length;
    // With options of Node each command is a process of its own.
    const apart = (command: string) =>
      generator([command, '--quiet'], join(project.root, 'api'), { NODE_OPTIONS: '' });
    await apart('generate');
    expect(loads()).toBe(1);
    expect(await apart('check')).toMatchObject({ code: 0 });
    expect(await apart('generate')).toMatchObject({ code: 0 });
    expect(loads()).toBe(1);
    project.write('api/schema.graphql', CHANGED);
    await apart('generate');
    expect(loads()).toBe(2);
  });
});
