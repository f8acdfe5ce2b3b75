import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeEnginesAtOnce } from '../engines/available.ts';
import { callEngine } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { root } from '../source-files.ts';

const home = mkdtempSync(join(tmpdir(), 'tf-deploy-'));
const bin = join(root, 'generator/bin.js');
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Both projects, once for all engines. One that failed is made anew when the tests are tried again. */
let made: Promise<unknown> | undefined;
const makeProjects = () =>
  (made ??= makeBoth().catch((error: unknown) => {
    made = undefined;
    throw error;
  }));
const execute = promisify(execFile);

async function makeBoth(): Promise<void> {
  for (const name of ['a', 'b']) rmSync(join(home, name), { recursive: true, force: true });
  const init = (name: string, ...options: string[]) =>
    execute('npx', ['generator', 'init', join(home, name), '--no-install', ...options], {
      cwd: root,
      env: environment(),
      timeout: STEP,
    });
  // What is built elsewhere needs no packages here, but the lock file that the build installs from.
  await init('b');
  const locked = execute(
    'npm',
    ['install', '--package-lock-only', '--ignore-scripts', '--no-audit'],
    { cwd: join(home, 'b'), env: environment(), timeout: STEP },
  );
  await Promise.all([locked, makeHost(init)]);
}

/** Milliseconds for one program of the set-up: one that hangs is named, and not the whole set-up. */
const STEP = 100_000;

/** The server that hosts, with the packages of this repository: what `init` installs is what test/journey is about. */
async function makeHost(
  init: (name: string, ...options: string[]) => Promise<unknown>,
): Promise<void> {
  const folder = join(home, 'a');
  await init('a', '--template', 'hosting');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const manifest = readFileSync(join(folder, 'manifest.yaml'), 'utf8');
  writeFileSync(
    join(folder, 'manifest.yaml'),
    manifest.replace(
      '  domain: apps.localhost\n',
      '  domain: apps.localhost\n  ingress: { http: 0, https: 0 }\n  disk_floor: 0\n',
    ),
  );
  await execute(process.execPath, [bin, 'generate'], { cwd: folder, env: environment() });
}

/** As a shell has it: nothing of npm's or of the tests. */
function environment(more: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|VITEST|NODE_ENV|PORT|HOST|DATABASE_URL|DOCKER_HOST|DEPLOY_|CI$)/.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...more };
}

describeEnginesAtOnce('generator deploy', ({ kind, socket }) => {
  const [a, b] = [join(home, `${kind}-host`), join(home, kind)];
  let server: ChildProcess;
  let url = '';
  let password = '';
  let ingress = 0;

  beforeAll(async () => {
    const node = await importImage(socket, 'twofold-test/node:1');
    // The name that the emitted Dockerfile builds on: no registry of images is reachable here.
    await callEngine(socket, {
      method: 'POST',
      path: `/images/${node}/tag?repo=docker.io/library/node&tag=24-slim`,
    });
    await makeProjects();
    cpSync(join(home, 'a'), a, { recursive: true });
    cpSync(join(home, 'b'), b, { recursive: true });
    password = /^HOST_PASSWORD=(.+)$/m.exec(readFileSync(join(a, '.env'), 'utf8'))![1]!;
    [server, url] = await start(a, {
      DOCKER_HOST: `unix://${socket}`,
      PORT: '0',
      DATABASE_URL: `file:data/${kind}.db`,
    });
    const config = (await api('GET', '/api/system/config')) as { ingress: { http: number } };
    expect(config).toMatchObject({ ingress: { http: expect.any(Number) } });
    ingress = config.ingress.http;
  });

  afterAll(async () => {
    if (!server) return;
    for (const name of ['b', 'other'])
      await api('DELETE', `/api/apps/${name}?volumes=true`).catch(() => {});
    const ended = new Promise((resolve) => server.once('close', resolve));
    process.kill(-server.pid!, 'SIGTERM');
    await ended;
  });

  let token: string | undefined;
  async function api(method: string, path: string, body?: unknown): Promise<unknown> {
    token ??= await signIn(url, password);
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json();
  }

  /** What became of the last deployment. */
  const last = async () =>
    ((await api('GET', '/api/apps/b/deployments')) as { deployments: { status: string }[] })
      .deployments[0]!.status;
  const lastIs = (status: RegExp) =>
    vi.waitFor(async () => expect(await last()).toMatch(status), {
      ...{ timeout: 120_000, interval: 200 },
    });
  const deploy = (more: Record<string, string> = {}, ...words: string[]) =>
    command(b, ['deploy', '--to', url, ...words], { DEPLOY_PASSWORD: password, ...more });

  // What the command itself says is the same whichever engine there is.
  if (kind === 'docker')
    it('says what is wrong before anything is sent', async () => {
      const cases: readonly [ReturnType<typeof command>, RegExp][] = [
        [command(b, ['deploy']), /deploy where\?/],
        [command(b, ['deploy', '--to', 'http://127.0.0.1:3'], {}), /does not answer/],
        [command(b, ['deploy', '--to', url]), /not signed in at .*\n\s+fix .*DEPLOY_TOKEN/],
        [command(b, ['deploy', '--to', url, '--token', 'nonsense']), /not signed in at/],
        [deploy({ DEPLOY_PASSWORD: 'wrong' }), /not signed in at .*Invalid password/],
        [deploy({}, '--name', 'No Name'), /"No Name" is not a name for an app/],
        [deploy({}, '--env', 'NOT_THERE'), /NOT_THERE has no value/],
        [command(b, ['deploy', '--to', 'ftp://x']), /not the address of a server/],
      ];
      for (const [run, text] of cases) {
        const { code, errors } = await run;
        expect(errors).toMatch(text);
        expect(code).toBe(2);
      }
      expect(await api('GET', '/api/apps')).toMatchObject({ total: 0 });
    });

  it('builds a new project from its source, and ends when it answers GraphQL by its domain', async () => {
    // Gone when this is tried again, so that the first deployment is a first one.
    await api('DELETE', '/api/apps/b?volumes=true');
    const { code, errors, out } = await deploy({}, '--json');
    expect([code, code === 0 ? null : out]).toEqual([0, null]); // What it says is wrong.
    expect(errors).toMatch(/created[^]*npm ci --omit=dev/);
    expect(JSON.parse(out)).toEqual({
      ok: true,
      app: 'b',
      url: `http://b.apps.localhost:${ingress}`,
      deployment: 1,
      created: true,
    });
    expect(
      await ask(
        ingress,
        'mutation { createUser(input: { name: "Ada", email: "ada@example.test" }) { id } }',
      ),
    ).toEqual({ data: { createUser: { id: '1' } } });
    const app = (await api('GET', '/api/apps/b')) as {
      env: object;
      volumes: object;
      source: { kind: string };
    };
    expect(app).toMatchObject({
      source: { kind: 'tarball' },
      env: { MIGRATE: 'on', HOST: '0.0.0.0' },
      volumes: [{ name: 'data', path: '/app/data' }],
    });
  });

  it('deploys again over what serves: rows stay, a setting is added, and a secret is never shown', async () => {
    writeFileSync(
      join(b, 'src/routes.ts'),
      `import type { Routes } from '@twofold/runtime';\n\nexport const routes: Routes = (router) => {\n  router.get('/api/greeting', (ctx) => {\n    ctx.body = { text: process.env['GREETING'], secret: process.env['MAIL_PASSWORD'] };\n  });\n};\n`,
    );
    await command(b, ['generate']);
    const { code, errors } = await deploy(
      { MAIL_PASSWORD: 'of the mail' },
      '--env',
      'GREETING=good day',
      '--env',
      'MAIL_PASSWORD',
    );
    expect([code, errors]).toEqual([0, expect.stringMatching(/deployed/)]);
    expect(errors).not.toContain('created');
    expect(await ask(ingress, '{ users { name } }')).toEqual({
      data: { users: [{ name: 'Ada' }] },
    });
    expect(await visit(ingress, '/api/greeting')).toEqual({
      text: 'good day',
      secret: 'of the mail',
    });
    expect((await api('GET', '/api/apps/b')) as object).toMatchObject({
      env: { MIGRATE: 'on', GREETING: 'good day', MAIL_PASSWORD: '********' },
    });
  });

  // What the command itself does with an answer is the same whichever engine gave it.
  if (kind !== 'docker') return;

  it('says why a build or a start failed, with its last lines, and what served goes on', async () => {
    const dockerfile = readFileSync(join(home, 'b/Dockerfile'), 'utf8');
    writeFileSync(join(b, 'Dockerfile'), `${dockerfile}RUN echo no such luck && exit 7\n`);
    const built = await deploy();
    expect(built.code).toBe(2);
    expect(built.errors).toMatch(/error {2}\w+ {2}deployment \d+ of b failed: .*7[^]*no such luck/);
    writeFileSync(
      join(b, 'Dockerfile'),
      `${dockerfile}CMD ["node", "-e", "console.log('I give up'); process.exit(3)"]\n`,
    );
    const started = await deploy({}, '--json');
    expect(started.code).toBe(2);
    expect(JSON.parse(started.out)).toMatchObject({
      ok: false,
      error: { code: 'START_FAILED', message: expect.stringContaining('I give up') },
    });
    writeFileSync(join(b, 'Dockerfile'), dockerfile);
    // An app with a volume is stopped before its successor starts, and started again when that fails.
    await vi.waitFor(
      async () =>
        expect(await ask(ingress, '{ users { name } }')).toEqual({
          data: { users: [{ name: 'Ada' }] },
        }),
      { timeout: 30_000, interval: 200 },
    );
  }, 240_000);

  it('leaves an app of the same name alone that is not a project’s', async () => {
    await importImage(socket, 'twofold-test/web:1');
    await api('DELETE', '/api/apps/other'); // Of an earlier try.
    expect(
      await api('POST', '/api/apps', { name: 'other', image: 'docker.io/twofold-test/web:1' }),
    ).toMatchObject({ status: 'running', source: { kind: 'image' } });
    const { code, errors } = await deploy({}, '--name', 'other');
    expect([code, errors]).toEqual([
      2,
      expect.stringMatching(
        /has an app other already, and it was not deployed from a project \(image\)/,
      ),
    ]);
    const taken = await api('PATCH', '/api/apps/other', { aliases: ['third.apps.localhost'] });
    expect(taken).toMatchObject({ aliases: ['third.apps.localhost'] });
    const third = await deploy({}, '--name', 'third');
    expect([third.code, third.errors]).toEqual([
      2,
      expect.stringMatching(/third\.apps\.localhost/),
    ]);
  });

  /** Deploys a build that takes ten seconds, and sends Ctrl+C once for each of these lines. */
  async function interrupt(...lines: readonly RegExp[]) {
    await lastIs(/^(healthy|failed|cancelled)$/);
    const dockerfile = readFileSync(join(b, 'Dockerfile'), 'utf8');
    // The time keeps the step out of the cache.
    const step = `RUN echo slowly ${Date.now()} && sleep 10\nUSER node`;
    writeFileSync(join(b, 'Dockerfile'), dockerfile.replace('USER node', step));
    const child = spawn(process.execPath, [bin, 'deploy', '--to', url], {
      cwd: b,
      env: environment({ DEPLOY_PASSWORD: password }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const left = [...lines];
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk;
      if (!left[0]?.test(text)) return;
      left.shift();
      child.kill('SIGINT');
    });
    const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)));
    writeFileSync(join(b, 'Dockerfile'), dockerfile);
    return { signal, text };
  }

  it('that is interrupted says what becomes of the deployment, and another one waits its turn', async () => {
    expect(await interrupt(/echo slowly/)).toEqual({
      signal: 'SIGINT',
      text: expect.stringMatching(/interrupted: deployment \d+ of b goes on without us/),
    });
    const second = await deploy();
    expect([second.code, second.errors]).toEqual([
      75,
      expect.stringMatching(/another deploy of b is running/),
    ]);
    await lastIs(/^healthy$/);
  }, 480_000);

  it('that is interrupted twice cancels the deployment, and what served serves', async () => {
    expect(await interrupt(/echo slowly/, /Ctrl\+C again/)).toEqual({
      signal: 'SIGINT',
      text: expect.stringMatching(/cancelled: what served before still serves/),
    });
    expect(await last()).toBe('cancelled');
    expect(await ask(ingress, '{ users { name } }')).toEqual({
      data: { users: [{ name: 'Ada' }] },
    });
  }, 240_000);
});

async function start(
  folder: string,
  settings: Record<string, string>,
): Promise<[ChildProcess, string]> {
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const found = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', (code) => reject(new Error(`npm start ended with ${code}:\n${text}`)));
  });
  return [child, url];
}

async function signIn(url: string, password: string): Promise<string> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ password }),
  });
  return ((await response.json()) as { token: string }).token;
}

/** `generator …` in a project. */
async function command(
  cwd: string,
  words: readonly string[],
  settings: Record<string, string> = {},
): Promise<{ code: number; out: string; errors: string }> {
  const run = execute(process.execPath, [bin, ...words], {
    cwd,
    env: environment(settings),
    maxBuffer: 1 << 26,
  });
  try {
    const { stdout, stderr } = await run;
    return { code: 0, out: stdout, errors: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, errors: stderr };
  }
}

async function ask(ingress: number, query: string): Promise<unknown> {
  return visit(ingress, '/graphql', { query });
}

/** By the app's domain, which no resolver here knows, through the ingress. */
function visit(ingress: number, path: string, body?: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { Host: `b.apps.localhost:${ingress}`, 'Content-Type': 'application/json' };
    const sent = request(
      {
        host: '127.0.0.1',
        port: ingress,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers,
        agent: false,
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => void (text += chunk)).on('error', reject);
        answer.on('end', () =>
          answer.statusCode === 200
            ? resolve(JSON.parse(text))
            : reject(new Error(`${answer.statusCode} ${text}`)),
        );
      },
    );
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
