import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { HOSTILE } from '../templates/schemas.ts';
import { query, run } from '../server/program.ts';
import {
  type Ended,
  generator,
  linkPackages,
  makeProject,
  repo,
  runFile,
  SEED,
  type TestProject,
} from './project.ts';

const made: TestProject[] = [];
const project = (
  files: Record<string, string> = { 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' },
) => {
  const each = makeProject(files);
  made.push(each);
  return each;
};
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** A module that a process loads before anything else. */
const preload = (text: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(text)}`,
});

describe('a field that is removed', () => {
  test('keeps the function of the user, and every run says where it is', async () => {
    const own =
      "import type * as types from '../generated/types.ts';\n\nexport const resolvers = {\n  shout: (user) => user.name.toUpperCase(),\n  // nmae: no member\n} satisfies types.UserOverrides;\n";
    const shop = project({
      'schema.graphql': SEED.replace(
        'email: String!',
        'email: String!\n  shout: String! @computed',
      ),
      'manifest.yaml': 'name: shop\n',
      'src/resolvers/User.ts': own,
    });
    expect((await generator(['generate'], shop.root)).stderr).not.toContain('ORPHAN');
    shop.write('schema.graphql', SEED);
    for (const command of ['generate', 'generate', 'check']) {
      const { code, stderr } = await generator([command], shop.root);
      expect([command, code, stderr]).toEqual([
        command,
        0,
        expect.stringMatching(
          /^src\/resolvers\/User\.ts:4:3 {2}warning {2}RESOLVER_FIELD_ORPHAN {2}User has no field shout/m,
        ),
      ]);
      expect(stderr).not.toContain('nmae');
    }
    expect(shop.read('src/resolvers/User.ts')).toBe(own);
  });

  test('that was only misspelled is told the right name', async () => {
    const shop = project({
      'schema.graphql': SEED,
      'manifest.yaml': 'name: shop\n',
      'src/resolvers/Query.ts': 'export const resolvers = { usrs: () => [] };\r\n',
    });
    expect((await generator(['generate'], shop.root)).stderr).toMatch(
      /src\/resolvers\/Query\.ts:1:28 {2}warning[^]*fix {2}rename it to users/,
    );
  });
});

describe('a disk that fills', () => {
  /** Whether this machine lets a test have mounts of its own. */
  const mayMount = (() => {
    try {
      execFileSync('unshare', ['-Urm', 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      console.warn(
        'skipped: a full disk, which needs a mount of its own; run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)',
      );
      return false;
    }
  })();

  /** Runs a script with the generator in `$@`, on a disk of this many kB. */
  const onSmallDisk = (size: number, script: string, shop: TestProject = project()) =>
    runFile(
      'unshare',
      [
        '-Urm',
        'sh',
        '-c',
        `mount -t tmpfs -o size=${size}k none "$PWD" && cd "$PWD" && ${script}`,
        'sh',
        process.execPath,
        join(repo, 'generator/bin.js'),
      ],
      shop.root,
    );

  const INPUTS = `printf '%s' '${SEED}' > schema.graphql; printf 'name: shop\\n' > manifest.yaml`;

  (mayMount ? test : test.skip)(
    'says so, leaves no file half or empty, and the next run with more room finishes',
    async () => {
      const { code, stdout, stderr } = await onSmallDisk(
        300,
        `${INPUTS}; head -c 240000 /dev/zero > filler; "$@" generate --quiet; echo "first $?"; find src migrations package.json 2>/dev/null | wc -l; rm filler; "$@" generate --quiet; echo "then $?"; find src migrations -type f -size 0 | wc -l; "$@" check --quiet; echo "check $?"`,
      );
      expect([
        code,
        stdout
          .trim()
          .split('\n')
          .map((line) => line.trim()),
        stderr,
      ]).toEqual([
        0,
        ['first 2', '0', 'then 0', '0', 'check 0'],
        expect.stringContaining('the disk is full'),
      ]);
    },
    60_000,
  );

  (mayMount ? test : test.skip)(
    'in a later run keeps every file as it was',
    async () => {
      const { stdout, stderr } = await onSmallDisk(
        1200,
        `${INPUTS}; "$@" generate --quiet; sum() { find . -type f ! -name filler ! -name manifest.yaml ! -path './.generator/transaction/*' ! -name run.lock | sort | xargs sha256sum | sha256sum; }; before=$(sum); printf 'name: shop\\nserver: { port: 9000 }\\nauth: {}\\n' > manifest.yaml; head -c 1200000 /dev/zero > filler 2>/dev/null; "$@" generate --quiet; echo "full $?"; test "$before" = "$(sum)" && echo same; rm filler; "$@" generate --quiet; echo "then $?"; "$@" check --quiet; echo "check $?"`,
      );
      expect([stdout.trim().split('\n'), stderr]).toEqual([
        ['full 2', 'same', 'then 0', 'check 0'],
        expect.stringContaining('the disk is full'),
      ]);
    },
    60_000,
  );

  test('by a limit of the system says so, and nothing of the project is there', async () => {
    const shop = project();
    const limited = await runFile(
      'sh',
      [
        '-c',
        'ulimit -f 2; exec "$@"',
        'sh',
        process.execPath,
        join(repo, 'generator/bin.js'),
        'generate',
      ],
      shop.root,
    );
    expect([limited.code, limited.stderr]).toEqual([
      2,
      expect.stringMatching(/error {2}.*cannot be written: it is larger than the system allows/),
    ]);
    expect([shop.has('src'), shop.has('package.json')]).toEqual([false, false]);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
  });
});

describe('an exit code', () => {
  test('is 75 when an editor saves a file that the run is about to write, and the save wins', async () => {
    const shop = project();
    await generator(['generate'], shop.root);
    shop.write('manifest.yaml', 'name: shop\nserver: { port: 9000 }\n');
    const editor = preload(`
      import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      const { readFileSync } = fs; let reads = 0;
      fs.readFileSync = (path, ...rest) => { const text = readFileSync(path, ...rest); if (String(path).endsWith('src/generated/model.ts') && ++reads === 1) fs.appendFileSync('src/generated/model.ts', '// saved\\n'); return text; };
      syncBuiltinESMExports();`);
    const { code, stderr } = await generator(['generate'], shop.root, editor);
    expect([code, stderr]).toEqual([
      75,
      expect.stringMatching(
        /src\/generated\/model\.ts was changed while this run was at work[^]*run again/,
      ),
    ]);
    expect(shop.read('src/generated/model.ts')).toMatch(/\/\/ saved\n$/);
    expect(shop.read('src/generated/model.ts')).not.toContain('9000');
  });

  test('is 5 for what may be a rename, and nothing is written until it is said', async () => {
    const shop = project();
    await generator(['generate'], shop.root);
    shop.write('schema.graphql', SEED.replace('name: String!', 'fullName: String!'));
    const before = shop.files();
    for (const command of ['generate', 'check'])
      expect(await generator([command], shop.root)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('@renamed(from: "name")'),
      });
    expect(shop.files()).toEqual(before);
    expect(await generator(['generate', '--allow-drop', 'User.name'], shop.root)).toMatchObject({
      code: 0,
    });
    expect(shop.read('migrations/0002_drop_users_name.ts')).toContain(
      "kind: 'drop', column: { name: 'name'",
    );
  });

  test('is 70 for a bug of ours, with where to report it; as one document with --json', async () => {
    const broken = preload(
      `import crypto from 'node:crypto'; import { syncBuiltinESMExports } from 'node:module'; crypto.hash = crypto.createHash = () => { throw new TypeError('made up'); }; syncBuiltinESMExports();`,
    );
    const shop = project();
    const before = shop.files();
    expect(await generator(['generate'], shop.root, broken)).toMatchObject({
      code: 70,
      stderr: expect.stringMatching(/This is a bug of ours\. Please report it where[^]*made up/),
    });
    const json = await generator(['generate', '--json'], shop.root, broken);
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      70,
      { ok: false, error: { code: 'BUG', message: 'TypeError: made up' } },
    ]);
    expect(Object.keys(shop.files()).filter((path) => !path.startsWith('.generator/'))).toEqual(
      Object.keys(before),
    );
  });
});

describe('generate --watch', () => {
  test('writes again when an input is saved, goes on after a mistake, and ends with 0 when it is told to', async () => {
    const shop = project();
    const child = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'generate', '--watch'], {
      cwd: shop.root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk) => void (said += chunk));
    const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
    try {
      await expect.poll(() => said, { timeout: 60_000 }).toContain('Watching.');
      shop.write('schema.graphql', SEED.replace('email: String!', 'email: String!\n  age: Int'));
      await expect
        .poll(() => shop.read('src/generated/types.ts'), { timeout: 60_000 })
        .toContain('age');
      shop.write('schema.graphql', 'type Query {');
      await expect.poll(() => said, { timeout: 60_000 }).toContain('schema.graphql:1:');
      expect(shop.read('src/generated/types.ts')).toContain('age');
      shop.write(
        'schema.graphql',
        SEED.replace('email: String!', 'email: String!\n  age: Int\n  town: String'),
      );
      await expect
        .poll(() => shop.read('src/generated/types.ts'), { timeout: 60_000 })
        .toContain('town');
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('what a command says', () => {
  test('with --quiet is findings and failures only, with --no-color has no colours, and with --cwd is of another folder', async () => {
    const shop = project();
    expect(await generator(['generate', '--quiet', '--no-color', '--cwd', shop.root], '/')).toEqual(
      { code: 0, stdout: '', stderr: '' } satisfies Ended,
    );
    expect(shop.has('src/generated/app.ts')).toBe(true);
    shop.write('schema.graphql', SEED.replace('String!', 'Strin!'));
    const { code, stderr } = await generator(['check', '--quiet', '--no-color'], shop.root);
    expect([code, stderr]).toEqual([3, expect.stringContaining('Did you mean')]);
    expect(stderr).not.toContain('\u001b');
  });
});

describe('types named Error, Object, constructor and select', () => {
  test('with backticks, */ and ${ in their texts are generated, migrated and served', async () => {
    const shop = project({ 'schema.graphql': HOSTILE, 'manifest.yaml': 'name: shop\n' });
    linkPackages(shop);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    const program = run(
      "await import('./src/server.ts');\nexport {};\n",
      { DATABASE_URL: 'file:app.db', PORT: '0', HOST: '127.0.0.1' },
      shop.root,
    );
    try {
      const url = await program.listening;
      const { data } = await query(
        url,
        '{ errors { id name object { id constructor { id } } } constructors { prototype toString } select(id: 1) { from } records { key } contexts(kind: delete) { kind } __type(name: "Error") { description } }',
      );
      expect(data).toEqual({
        errors: [],
        constructors: [],
        select: null,
        records: [],
        contexts: [],
        __type: { description: 'It ends here */ and `here` and ${here} and \\\\ here' },
      });
    } finally {
      program.process.kill('SIGKILL');
      await program.ended;
      mkdirSync(shop.root, { recursive: true });
      rmSync(shop.path('app.db'), { force: true });
    }
  });
});
