import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { generator, linkPackages, makeProject, repo, type TestProject } from '../project.ts';

const ENTRY = 'codegen:\n  src/generated/types.ts: {}\n';
const TYPES = 'src/generated/types.ts';
const LINE = '// The plugins under `codegen:` in manifest.yaml printed what follows.';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** An example whose types are printed by plugins. */
async function example(name: string, entry = ENTRY): Promise<TestProject> {
  const project = makeProject({});
  made.push(project);
  const skip = /node_modules|\/data(\/|$)/;
  const from = join(repo, 'examples', name);
  cpSync(from, project.root, {
    recursive: true,
    filter: (path) => !skip.test(path.slice(from.length)),
  });
  linkPackages(project);
  project.write(
    'src/ours.ts',
    project.read(TYPES).replace("'./loaders.ts'", "'./generated/loaders.ts'"),
  );
  project.write('manifest.yaml', `${project.read('manifest.yaml')}\n${entry}`);
  return project;
}

const generate = async (project: TestProject, ...words: readonly string[]) =>
  generator(['generate', ...words], project.root);

async function errorsOf(project: TestProject): Promise<string> {
  const tsc = join(repo, 'node_modules/.bin/tsc');
  const ended = await promisify(execFile)(tsc, ['--noEmit', '-p', project.root]).catch(
    (error: { stdout: string }) => error,
  );
  return ended.stdout;
}

/**
 * Assigns each type of one file to the same type of the other, both ways. What our resolvers return
 * may have promises where theirs has none.
 */
function comparison(ours: string): string {
  const names = Array.from(
    ours.matchAll(/^export (?:type|interface) (\w+)(<\w+[,>])?/gm),
    ([, name, unset]) => (unset === undefined ? name! : null),
  ).filter((name) => name !== null);
  return [
    "import type * as ours from './ours.ts';",
    "import type * as theirs from './generated/types.ts';",
    ...names.flatMap((name) => [
      // The table of ours has all five scalars of GraphQL.
      `export const from${name} = (value: theirs.${name}): ${/^Resolvers(?:Parent)?Types$/.test(name) ? `Pick<ours.${name}, keyof theirs.${name}>` : `ours.${name}`} => value;`,
      ...(/^Resolvers(?:Types)?$|(?:Resolvers|Overrides)$/.test(name)
        ? []
        : [`export const to${name} = (value: ours.${name}): theirs.${name} => value;`]),
    ]),
  ].join('\n');
}

describe('types.ts by the plugins of graphql-codegen', { timeout: 120_000 }, () => {
  it.each(['blog', 'company', 'conduit'])(
    '%s compiles unchanged, and each type is assignable to ours both ways',
    async (name) => {
      const project = await example(name);
      const ours = project.read('src/ours.ts');
      expect(await generate(project)).toMatchObject({ code: 0 });
      const types = project.read(TYPES);
      expect(types).toContain(`\n${LINE}\n\nimport type { GraphQLResolveInfo`);
      expect(types).not.toBe(ours);
      project.write('src/compared.ts', comparison(ours));
      expect(comparison(ours).split('\n').length).toBeGreaterThan(60);
      expect(await errorsOf(project)).toBe('');
    },
  );

  it('are written once, follow the schema, and are ours again without the entry', async () => {
    const project = await example('blog');
    const ours = project.read('src/ours.ts').replace("'./generated/loaders.ts'", "'./loaders.ts'");
    await generate(project);
    project.write('README.md', `${project.read('README.md')}\n`);
    expect(JSON.parse((await generate(project, '--json')).stdout).changes).toEqual([]);
    project.write(
      'schema.graphql',
      project.read('schema.graphql').replace('type Tag {', 'type Tag {\n  colour: String'),
    );
    await generate(project);
    expect(project.read(TYPES).split(LINE)[1]).toContain('colour?: Maybe');
    project.write(
      'schema.graphql',
      project.read('schema.graphql').replace('\n  colour: String', ''),
    );
    project.write('manifest.yaml', project.read('manifest.yaml').replace(ENTRY, ''));
    await generate(project, '--allow-drop', 'Tag.colour');
    expect(project.read(TYPES)).toBe(ours);
  });

  it('stay those of the plugins with --no-client, and follow the schema', async () => {
    const project = await example('blog');
    expect(await generate(project, '--no-client')).toMatchObject({ code: 0 });
    expect(project.read(TYPES)).toContain(LINE);
    expect(await generator(['check', '--no-client'], project.root)).toMatchObject({ code: 0 });
    project.write(
      'schema.graphql',
      project.read('schema.graphql').replace('type Tag {', 'type Tag {\n  colour: String'),
    );
    await generate(project, '--no-client');
    expect(project.read(TYPES).split(LINE)[1]).toContain('colour?: Maybe');
  });

  it('stay as they are with --no-client where a plugin of theirs needs the front end', async () => {
    const documents = 'documents: ["../web/*.graphql"]';
    const project = await example(
      'blog',
      `codegen:\n  ${TYPES}: { plugins: [typescript, typescript-resolvers], ${documents} }\n`,
    );
    await generate(project);
    const types = project.read(TYPES);
    expect(types).toContain(LINE);
    expect(await generate(project, '--no-client')).toMatchObject({ code: 0 });
    expect(project.read(TYPES)).toBe(types);
  });

  it('take options of the entry, and refuse a type with a name of our own', async () => {
    const options = `codegen:\n  ${TYPES}: { config: { scalars: { DateTime: Date }, immutableTypes: true } }\n`;
    const project = await example('blog', options);
    await generate(project);
    const printed = project.read(TYPES).split(LINE)[1];
    expect(printed).toMatch(/DateTime: \{ input: Date; output: Date; \}/);
    expect(printed).toMatch(/readonly title: ScalarTypes\['String'\]/);
    const before = project.files();
    project.write(
      'schema.graphql',
      `${project.read('schema.graphql')}\ntype Context { id: ID! }\n`,
    );
    const { code, stderr } = await generate(project);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/CODEGEN_FAILED {2}the type Context/),
    ]);
    expect(project.read(TYPES)).toBe(before[TYPES]);
  });
});
