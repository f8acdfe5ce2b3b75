import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSchema, printSchema } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import {
  generator,
  linkPackages,
  makeProject,
  type TestProject,
  typecheck,
} from '../generator/project.ts';
import { MANIFEST, SCHEMAS, sdlOf } from './schemas.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** `CRUD_PROJECTS=1`: all of them. */
const chosen = process.env['CRUD_PROJECTS'] === undefined ? SCHEMAS.slice(1, 2) : SCHEMAS;

const CRUD = 'src/generated/crud.graphql';

/** The API that the emitted project serves. */
const apiOf = (project: TestProject) => {
  const file = pathToFileURL(join(project.root, 'src/generated/schema.graphql.ts'));
  const script = `process.stdout.write((await import('${file}')).sdl)`;
  const sdl = execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
  return printSchema(buildSchema(String(sdl)));
};

describe.each(chosen)('a project with api.crud and the schema %s', (name) => {
  test('type-checks, is ejected by the command line, and serves the same API: Acceptance 5', async () => {
    const project = makeProject({ 'schema.graphql': sdlOf(name), 'manifest.yaml': MANIFEST });
    made.push(project);
    linkPackages(project);
    expect(await generator(['generate'], project.root)).toMatchObject({ code: 0 });
    expect(await typecheck(project.root)).toEqual([]);
    const [api, written] = [apiOf(project), project.read(CRUD)];
    expect(project.read('src/generated/schema.graphql.ts')).not.toContain('Filter');
    // A second run, and one of a schema that only has another comment, leave the file as it is.
    project.write('schema.graphql', `${sdlOf(name)}\n# more\n`);
    await generator(['generate'], project.root);
    expect(project.read(CRUD)).toBe(written);

    const one = /^input (\w+Filter) \{/m.exec(written)![1]!;
    expect(await generator(['eject', one], project.root)).toMatchObject({ code: 0 });
    expect(project.read('schema.graphql')).toMatch(new RegExp(`# more\n\ninput ${one} \\{`));
    expect(project.read(CRUD)).not.toContain(`input ${one} {`);
    expect(apiOf(project)).toBe(api);

    expect(await generator(['eject', 'crud'], project.root)).toMatchObject({ code: 0 });
    expect(project.has(CRUD)).toBe(false);
    expect(apiOf(project)).toBe(api);
    expect(await generator(['check'], project.root)).toMatchObject({ code: 0 });

    const unknown = await generator(['eject', 'NoSuchFilter'], project.root);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain(`${CRUD} has no NoSuchFilter`);
  });
});
