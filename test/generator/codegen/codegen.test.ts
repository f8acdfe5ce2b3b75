import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { planCodegen } from '../../../generator/codegen/plan-codegen.ts';
import { planRun, run } from '../../../generator/pipeline.ts';
import { readProjectOf } from '../../../generator/read-project.ts';
import { disk } from '../../../generator/write/disk.ts';
import { generator, repo, type TestProject } from '../project.ts';
import { installed, work } from './world.ts';

const ENTRIES = `  src/generated/zod.ts:
    plugins: [typescript-validation-schema]
    config: { schema: zodv4, importFrom: ./types.ts }
  ../web/src/gql/: { preset: client, documents: ["../web/src/*.{ts,tsx}"], presetConfig: { fragmentMasking: true } }
  ../web/src/operations.ts: { plugins: [typescript, typescript-operations], documents: ["../web/src/*.{ts,tsx}"] }
  src/names.ts: { plugins: [{ ./codegen/mine.ts: { word: own } }] }
`;
const MANIFEST = `name: blog\ncodegen:\n${ENTRIES}`;

let modules = '';
beforeAll(async () => void (modules = await installed()));
const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

function shop(manifest = MANIFEST, packages = modules): TestProject {
  const project = work(manifest, packages);
  made.push(project);
  return project;
}
const api = ({ root }: TestProject) => join(root, 'api');
const codegenOf = async (project: TestProject, more: { timeLimit?: number } = {}) => {
  const { project: model, sources } = await readProjectOf(api(project));
  return planCodegen(model!, sources, { disk, ours: new Set(['src/generated/app.ts']), ...more });
};
const generate = (project: TestProject, ...args: readonly string[]) =>
  generator(['generate', '--quiet', ...args], api(project));

describe('codegen in the manifest', () => {
  it("writes the bytes of graphql-codegen's own command line, which reads our schema file, and nothing the second time", async () => {
    const project = shop();
    expect(await generate(project)).toMatchObject({ code: 0, stderr: '' });
    const ours = project.files();
    const paths = ['api/src/generated/zod.ts', 'api/src/names.ts', 'web/src/operations.ts'];
    expect(Object.keys(ours)).toEqual(expect.arrayContaining([...paths, 'web/src/gql/gql.ts']));
    const again = JSON.parse((await generate(project, '--json')).stdout);
    expect(again.changes).toEqual([]);
    for (const path of [...paths, 'web/src/gql']) rmSync(project.path(path), { recursive: true });
    project.write(
      'api/codegen.yml',
      `schema: src/generated/schema.graphql.ts\ngenerates:\n${ENTRIES}`,
    );
    const cli = join(modules, '@graphql-codegen/cli/esm/bin.js');
    execFileSync(process.execPath, [cli, '--config', 'codegen.yml'], {
      cwd: api(project),
      stdio: 'pipe',
    });
    rmSync(project.path('api/codegen.yml'));
    expect(project.files()).toEqual(ours);
  });

  it('gives each plugin the graphql that it imports itself, 16 or 17', async () => {
    const project = shop(
      'name: blog\ncodegen:\n  src/a.ts: { plugins: [typescript, typescript-resolvers] }\n',
      join(repo, 'node_modules'),
    );
    expect((await codegenOf(project))?.findings).toEqual([]);
  });

  it('owns its outputs: an edited one is exit 3, and they go with their entry', async () => {
    const project = shop(
      'name: blog\ncodegen:\n  src/names.ts: { plugins: [./codegen/mine.ts] }\n',
    );
    expect(await generate(project)).toMatchObject({ code: 0 });
    const text = project.read('api/src/names.ts');
    project.write('api/src/names.ts', `${text}// mine\n`);
    expect(await generate(project)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/src\/names\.ts was edited by hand/),
    });
    project.write('api/src/names.ts', text);
    project.write('api/manifest.yaml', 'name: blog\n');
    expect(await generate(project)).toMatchObject({ code: 0 });
    expect(project.has('api/src/names.ts')).toBe(false);
  });

  it('runs again when the text of an own plugin changes, and takes a damaged cache for none', async () => {
    const project = shop(
      'name: blog\ncodegen:\n  src/names.ts: { plugins: [./codegen/mine.ts] }\n',
    );
    await generate(project);
    project.write('api/codegen/mine.ts', "export const plugin = () => 'export {};\\n';\n");
    await generate(project);
    expect(project.read('api/src/names.ts')).toBe('export {};\n');
    project.write('api/.generator/codegen.json', '{ "src/names.ts": 7');
    expect(await generate(project)).toMatchObject({ code: 0 });
    expect(JSON.parse(project.read('api/.generator/codegen.json'))).toHaveProperty([
      'src/names.ts',
      'key',
    ]);
  });

  it.each([
    [
      'no-such-plugin',
      'CODEGEN_PACKAGE_MISSING',
      /npm install -D @graphql-codegen\/no-such-plugin/,
    ],
    ['./codegen/throws.ts', 'CODEGEN_FAILED', /throws\.ts failed for src\/names\.ts: no luck\n/],
    ['./codegen/exits.ts', 'CODEGEN_FAILED', /ended the process with 7/],
  ])(
    'reports %s at the line of the manifest, and writes nothing',
    async (plugin, code, message) => {
      const project = shop(
        `name: blog\ncodegen:\n  src/fine.ts: { plugins: [./codegen/mine.ts] }\n  src/names.ts: { plugins: [${plugin}] }\n`,
      );
      project.write(
        'api/codegen/throws.ts',
        "export const plugin = () => { throw new Error('no luck'); };\n",
      );
      project.write('api/codegen/exits.ts', 'export const plugin = () => process.exit(7);\n');
      const before = project.files();
      const { code: exit, stderr } = await generate(project);
      expect([exit, stderr]).toEqual([
        3,
        expect.stringContaining(`manifest.yaml:4:3  error  ${code}`),
      ]);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n\s+at /);
      const { 'api/.generator/run.lock': _lock, ...after } = project.files();
      expect(after).toEqual(before);
    },
  );

  it('ends a plugin that never ends', async () => {
    const project = shop(
      'name: blog\ncodegen:\n  src/names.ts: { plugins: [./codegen/endless.ts] }\n',
    );
    project.write('api/codegen/endless.ts', 'export const plugin = () => { for (;;); };\n');
    const plan = await codegenOf(project, { timeLimit: 500 });
    expect(plan?.findings).toMatchObject([
      { code: 'CODEGEN_FAILED', summary: expect.stringContaining('did not end within') },
    ]);
    expect(plan?.files).toEqual([]);
  });

  it.each([
    ['src/generated/app.ts', 'CODEGEN_PATH_TAKEN'],
    ['codegen/mine.ts', 'CODEGEN_PATH_TAKEN'],
    ['../../elsewhere.ts', 'CODEGEN_PATH_OUTSIDE'],
    ['../.git/hooks/pre-commit', 'CODEGEN_PATH_OUTSIDE'],
  ])('does not write %s', async (path, code) => {
    const project = shop(`name: blog\ncodegen:\n  ${path}: { plugins: [./codegen/mine.ts] }\n`);
    const plan = await codegenOf(project);
    expect([plan?.findings.map((each) => each.code), plan?.files]).toEqual([[code], []]);
  });

  it('needs 5 ms of a save that changes nothing of it', async () => {
    const project = shop();
    await run(api(project), {}, disk);
    const { project: model, sources } = await readProjectOf(api(project));
    const times: number[] = [];
    for (let round = 0; round < 20; round++) {
      const start = performance.now();
      const plan = await planCodegen(model!, sources, { disk, ours: new Set() });
      times.push(performance.now() - start);
      expect(plan?.findings).toEqual([]);
    }
    expect(times.toSorted((a, b) => a - b)[5]).toBeLessThan(5);
  });

  it('lets a server under dev go on: plugins run after the files of the server are written', async () => {
    const project = shop(
      'name: blog\ncodegen:\n  src/names.ts: { plugins: [./codegen/throws.ts] }\n',
    );
    project.write(
      'api/codegen/throws.ts',
      "export const plugin = () => { throw new Error('no luck'); };\n",
    );
    let ended = () => {};
    const end = new Promise<void>((resolve) => (ended = resolve));
    const options = { draft: true, codegen: () => ended() };
    expect((await run(api(project), options, disk)).findings.map(({ code }) => code)).not.toContain(
      'CODEGEN_FAILED',
    );
    expect(existsSync(join(api(project), 'src/generated/app.ts'))).toBe(true);
    await end;
    const plan = await planRun(api(project), options, disk);
    expect(plan.findings).toContainEqual(
      expect.objectContaining({ code: 'CODEGEN_FAILED', severity: 'warning' }),
    );
    expect(plan.project).not.toBeNull();
  });
});
