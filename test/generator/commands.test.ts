import { statSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { commands } from '../../generator/cli/commands.ts';
import {
  generator,
  linkPackages,
  makeProject,
  SEED,
  type TestProject,
  typecheck,
} from './project.ts';

const made: TestProject[] = [];
const project = (files?: Record<string, string>) => {
  const each = makeProject(files);
  made.push(each);
  return each;
};
afterEach(() => made.splice(0).forEach((each) => each.remove()));

describe('generate', () => {
  test('says after the first run what comes next, and one line for what nobody has to read', async () => {
    const shop = project();
    const first = await generator(['generate'], shop.root);
    expect(first.stderr).toContain('Next:\n  npm install\n  npm start\n');
    expect(first.stderr.match(/\.generator\/base.*/g)).toEqual(['.generator/base.json']);
    shop.write('manifest.yaml', 'name: shop\nserver: { port: 9000 }\n');
    expect((await generator(['generate'], shop.root)).stderr).not.toContain('Next:');
  });

  test('says that a name after --allow-drop is a slip, once', async () => {
    const shop = project();
    await generator(['generate'], shop.root);
    shop.write('schema.graphql', SEED.replace('  name: String!\n', ''));
    const slip = await generator(['generate', '--allow-drop', 'users.nmae'], shop.root);
    expect(slip).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /DROP_UNKNOWN {2}--allow-drop users\.nmae[^]*did you mean users\.name\?/,
      ),
    });
    expect((await generator(['generate'], shop.root)).stderr).not.toContain('DROP_UNKNOWN');
    for (const name of ['User.name', 'users.name']) {
      const dropped = await generator(['generate', '--allow-drop', name], shop.root);
      expect([name, dropped.code, dropped.stderr.includes('DROP_UNKNOWN')]).toEqual([
        name,
        0,
        false,
      ]);
    }
  });
});

describe('help', () => {
  test('lists every command, and each has help with an example', async () => {
    const { stdout, code } = await generator(['--help'], '/');
    expect(code).toBe(0);
    for (const command of commands) expect(stdout).toContain(`  ${command.name}`);
    const one = await generator(['generate', '--help'], '/');
    expect(one.stdout).toMatch(
      /Usage: generator generate[^]*--dry-run[^]*Example:\n {2}npm run generate/,
    );
  });

  test('of a command is shown by -h, in front of it and by the word help, the version by -v', async () => {
    const { stdout } = await generator(['check', '--help'], '/');
    for (const words of [
      ['check', '-h'],
      ['-h', 'check'],
      ['help', 'check'],
      ['-h', '--', 'check'],
    ])
      expect([words, await generator(words, '/')]).toEqual([
        words,
        { code: 0, stdout, stderr: '' },
      ]);
    expect((await generator(['-v'], '/')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('no command is a usage error with the overview', async () => {
    const { code, stdout } = await generator([], '/');
    expect(code).toBe(2);
    expect(stdout).toContain('Usage:');
  });

  test.each([
    [['generat'], 'did you mean generate?'],
    [['generate', '--dry-rum'], 'did you mean --dry-run?'],
    [['init', '--template', 'bloq'], 'one of starter, blog, company, hosting'],
    [['init', '--template'], '--template needs a value'],
    [['check', 'this'], 'unexpected argument this'],
    [['check', '--json=yes'], 'takes no value'],
    [['init', '--template', '--force'], '--template needs a value'],
    [['check', '--', '--json'], 'unexpected argument --json'],
    [['check', '-q'], 'unknown option -q'],
  ])('%j says %j', async (args, text) => {
    const { code, stderr, stdout } = await generator(args, '/');
    expect([code, stdout]).toEqual([2, args.includes('--json=yes') ? stdout : '']);
    expect(stderr + stdout).toContain(text);
  });
});

describe('generate', () => {
  test('writes a project that type-checks, and nothing the second time', async () => {
    const shop = project();
    linkPackages(shop);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0, stdout: '' });
    const before = shop.files();
    const times = Object.keys(before).map((path) => statSync(shop.path(path)).mtimeMs);
    const second = await generator(['generate'], shop.root);
    expect(second.stderr).toContain('Everything is up to date.');
    expect(shop.files()).toEqual(before);
    expect(Object.keys(before).map((path) => statSync(shop.path(path)).mtimeMs)).toEqual(times);
    expect(await typecheck(shop.root)).toEqual([]);
  });

  test('a broken schema is findings, exit 3 and nothing written', async () => {
    const shop = project({
      'schema.graphql': `${SEED}\ntype Post {\n  id: ID!\n  author: Usr!\n}\n`,
      'manifest.yaml': 'name: shop\nsever: {}\n',
    });
    const before = shop.files();
    const { code, stderr, stdout } = await generator(['generate'], shop.root);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/schema\.graphql:14:11 {2}error {2}\w+ {2}.*Usr/);
    expect(stderr).toMatch(/14 │ {3}author: Usr!\n {6}│ {11}\^/);
    expect(stderr).toMatch(/manifest\.yaml:2:1 {2}error/);
    expect(shop.files()).toEqual(before);
  });

  test('--json prints one document with the same findings', async () => {
    const shop = project({ 'schema.graphql': 'type Query { a: Nope }' });
    const { code, stdout } = await generator(['generate', '--json'], shop.root);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: [{ severity: 'error', at: { file: 'schema.graphql', line: 1 } }],
      changes: [],
    });
  });

  test('--dry-run and --diff show what would be written, and write nothing', async () => {
    const shop = project();
    const before = shop.files();
    const dry = await generator(['generate', '--dry-run'], shop.root);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stdout).toMatch(/new +src\/generated\/app\.ts\n/);
    const diff = await generator(['generate', '--diff'], shop.root);
    expect(diff.stdout).toContain('--- /dev/null\n+++ b/src/server.ts\n@@ -0,0 +1,');
    expect(shop.files()).toEqual(before);
  });

  test('--print-model prints the model and nothing else', async () => {
    const shop = project();
    const { stdout } = await generator(['generate', '--print-model'], shop.root);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'shop',
      entities: [{ name: 'User', table: 'users' }],
    });
  });

  test('an edited generated file stops the run with exit 3; --force keeps the edit aside', async () => {
    const shop = project();
    await generator(['generate'], shop.root);
    const edited = `${shop.read('src/generated/app.ts')}// mine\n`;
    shop.write('src/generated/app.ts', edited);
    const before = shop.files();
    const refused = await generator(['generate'], shop.root);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('src/generated/app.ts was edited by hand');
    expect(shop.files()).toEqual(before);
    expect(await generator(['generate', '--force'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.read('src/generated/app.ts')).not.toContain('// mine');
    const rescued = Object.entries(shop.files()).filter(([path]) =>
      path.startsWith('.generator/rescued/'),
    );
    expect(rescued.map(([, text]) => text)).toEqual([edited]);
  });

  test('removes a generated file that nothing generates any more, and keeps what a merge left of it', async () => {
    const shop = project({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\nauth: {}\n' });
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    const merged = `<<<<<<< HEAD\n// mine\n=======\n${shop.read('src/generated/auth.ts')}>>>>>>> left\n`;
    shop.write('src/generated/auth.ts', merged);
    shop.write('manifest.yaml', 'name: shop\n');
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.has('src/generated/auth.ts')).toBe(false);
    expect(
      Object.entries(shop.files())
        .filter(([path]) => path.startsWith('.generator/rescued/'))
        .map(([, text]) => text),
    ).toEqual([merged]);
  });

  test('a folder without a schema is a usage error that says what to do', async () => {
    const { code, stderr } = await generator(['generate'], project({}).root);
    expect(code).toBe(2);
    expect(stderr).toMatch(/there is no schema\.graphql in .*\n +fix +npx generator init/);
  });

  test.each([
    ['not UTF-8', Buffer.from([0x74, 0xff, 0xfe])],
    ['a folder', null],
  ])('a schema that is %s is a finding', async (_what, bytes) => {
    const shop = project({});
    if (bytes) shop.write('schema.graphql', '');
    const { mkdirSync, writeFileSync } = await import('node:fs');
    if (bytes) writeFileSync(shop.path('schema.graphql'), bytes);
    else mkdirSync(shop.path('schema.graphql'));
    const { code, stderr } = await generator(['generate'], shop.root);
    expect(code).toBe(3);
    expect(stderr).toMatch(/schema\.graphql:1:1 {2}error {2}FILE_UNREADABLE/);
  });

  test('a schema split over files is one schema', async () => {
    const [user = '', query = ''] = SEED.split('\n\n');
    const shop = project({
      'schema/user.graphql': user,
      'schema/query.graphql': query,
      'manifest.yaml': 'name: shop',
    });
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.read('src/generated/schema.graphql.ts')).toContain('type User {');
  });
});

describe('check', () => {
  test('is 0 when all is up to date, 1 when something would be written, and writes nothing', async () => {
    const shop = project();
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 1 });
    expect(shop.has('src')).toBe(false);
    await generator(['generate'], shop.root);
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    shop.write('schema.graphql', SEED.replace('email: String!', 'email: String!\n  age: Int'));
    const before = shop.files();
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 1 });
    expect(shop.files()).toEqual(before);
  });
});
