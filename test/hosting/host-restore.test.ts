import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import catalogue from '../../runtime/hosting/templates/catalogue.json' with { type: 'json' };
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { describeWith } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { generator, linkPackages, makeProject, repo } from '../generator/project.ts';

const DOCKER = process.env['TEST_DOCKER_SOCKET'] ?? '';
const PODMAN = process.env['TEST_PODMAN_SOCKET'] ?? '';
const PASSWORD = 'the password of the host';
const BACKUP_KEY = Buffer.alloc(32, 7).toString('base64');

const FILES = {
  'schema.graphql': 'type Query { notes: [Note!]! }\ntype Note { id: ID! text: String! }\n',
  'manifest.yaml': `name: host
hosting:
  domain: apps.test
  disk_floor: 0B
  ingress: { http: 0, https: 0 }
`,
};
let folder: string;
let mount: string;
let project: ReturnType<typeof makeProject>;

/** A host: the project in a folder of its own, on an engine of its own. */
interface Host {
  readonly root: string;
  readonly socket: string;
  readonly env: Record<string, string>;
  readonly url: string;
}
const running: ChildProcess[] = [];
let instance = '';

async function makeHost(name: string, socket: string): Promise<Host> {
  const root = join(folder, name);
  cpSync(project.root, root, { recursive: true, verbatimSymlinks: true });
  const port = await freePort();
  const env = {
    ...{ PORT: String(port), HOST_PASSWORD: PASSWORD, BACKUP_KEY, HOSTING_INGRESS: 'inline' },
    ...{ JWT_SECRET: `the secret of ${name} ${'x'.repeat(32)}`, DOCKER_HOST: `unix://${socket}` },
  };
  return { root, socket, env, url: `http://127.0.0.1:${port}` };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Starts the server of a host. @returns what calls its API. */
async function start({ root, env, url }: Host) {
  const child = spawn(process.execPath, ['src/server.ts'], {
    ...{ cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  running.push(child);
  let said = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (said += String(chunk)));
  const isUp = async () => (await fetch(`${url}/api/health`).catch(() => null))?.ok === true;
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const post = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password: PASSWORD }),
  });
  const { token } = (await post.json()) as { token: string };
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  return { api, token, stop, said: () => said };
}

/** The commands of the page, in their order: a text for each block of a section. */
function blocksOf(heading: string): string[] {
  const page = readFileSync(join(repo, 'runtime/hosting/docs/backups.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text as string);
}

/** Stands in for curl, of which the page uses `-X` and `-d`. */
const API = `
const words = process.argv.slice(2);
const after = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const url = words.find((word) => word.startsWith('http'));
const answer = await fetch(url, { method: after('-X') ?? 'GET', body: after('-d'),
  headers: { authorization: 'Bearer ' + process.env.TOKEN, 'content-type': 'application/json' } });
console.log(JSON.stringify({ status: answer.status, body: await answer.json() }));
`;

/** Runs commands of the page as they stand there, but for the folder of the target. */
function runBlock(text: string, host: Host, token = ''): Promise<{ code: number; out: string }> {
  const functions = [
    `api() { "${process.execPath}" "${folder}/api.mjs" "$@"; }`,
    `npx() { shift; "${process.execPath}" "${join(repo, 'generator/bin.js')}" "$@" --json; }`,
    'npm() { :; }',
  ];
  const script = [...functions, text.replaceAll('/mnt/backups', mount)].join('\n');
  const env = { ...process.env, ...host.env, TOKEN: token, base: host.url };
  return new Promise((resolve) =>
    execFile('bash', ['-ec', script], { cwd: host.root, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out: out || err }),
    ),
  );
}

const answersIn = (out: string) =>
  out
    .trim()
    .split(/\n(?=\{)/)
    .map((line) => JSON.parse(line) as any);

async function connect(socket: string, password: string): Promise<pg.Client> {
  const filters = encodeURIComponent(JSON.stringify({ label: ['twofold.name=shopdb'] }));
  const [{ Id }] = await engineJson<any>(socket, { path: `/containers/json?filters=${filters}` });
  const detail = await engineJson<any>(socket, { path: `/containers/${Id}/json` });
  const networks = Object.values(detail.NetworkSettings.Networks) as { IPAddress: string }[];
  const host = networks[0]!.IPAddress;
  const client = new pg.Client({ host, port: 5432, user: 'app', password, database: 'app' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Writes rows until it is ended. @returns how many were written when it began to run well. */
async function writeRows(client: pg.Client) {
  const end = new AbortController();
  let rows = 0;
  let enough = () => {};
  const some = new Promise<void>((resolve) => (enough = resolve));
  const done = (async () => {
    for (; !end.signal.aborted; rows += 1) {
      await client.query('INSERT INTO orders (id, text) VALUES ($1, $2)', [rows, `order ${rows}`]);
      if (rows === 50) enough();
    }
  })();
  await some;
  return { count: () => rows, end: () => (end.abort(), done) };
}

async function clean(socket: string): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.instance=${instance}`] }));
  const list = await engineJson<any[]>(socket, {
    path: `/containers/json?all=1&filters=${filters}`,
  });
  for (const { Id } of list)
    await callEngine(socket, { method: 'DELETE', path: `/containers/${Id}?force=1&v=1` });
  const { Volumes } = await engineJson<any>(socket, { path: `/volumes?filters=${filters}` });
  for (const { Name } of Volumes ?? [])
    await callEngine(socket, { method: 'DELETE', path: `/volumes/${Name}?force=1` });
  const networks = await engineJson<any[]>(socket, { path: `/networks?filters=${filters}` });
  for (const { Id } of networks)
    await callEngine(socket, { method: 'DELETE', path: `/networks/${Id}` });
}

describeWith('docker', 'another host, from Docker', () =>
  describeWith('podman', 'to Podman', () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'tf-host-restore-'));
      mount = join(folder, 'mount');
      project = makeProject(FILES);
      mkdirSync(mount);
      writeFileSync(join(folder, 'api.mjs'), API);
      linkPackages(project);
      const image = await importImage(DOCKER, 'twofold-test/postgres:1');
      await importImage(PODMAN, 'twofold-test/postgres:1');
      await importImage(DOCKER, 'twofold-test/web:1');
      await importImage(PODMAN, 'twofold-test/web:1');
      const template = catalogue.find(({ id }) => id === 'postgres');
      project.write('templates/postgres.json', JSON.stringify({ ...template, image }));
      const made = await generator(['generate'], project.root);
      expect([made.code, made.stderr]).toEqual([0, expect.anything()]);
    });
    afterAll(async () => {
      for (const child of running) if (child.exitCode === null) child.kill('SIGKILL');
      for (const socket of [DOCKER, PODMAN]) await clean(socket);
      project.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    it('a host is lost, and comes back on another engine by the commands of the page', async () => {
      const old = await makeHost('old', DOCKER);
      const server = await start(old);
      const made = await server.api('POST', '/api/templates/postgres/deploy', { name: 'shopdb' });
      expect([made.status, made.body.error]).toEqual([201, undefined]);
      const password = made.body.generated.POSTGRES_PASSWORD as string;
      const web = { name: 'web', image: 'docker.io/twofold-test/web:1', env: { COLOR: 'blue' } };
      expect((await server.api('POST', '/api/apps', web)).status).toBe(201);
      const client = await connect(DOCKER, password);
      await client.query('CREATE TABLE orders (id int PRIMARY KEY, text text)');
      const load = await writeRows(client);
      const before = load.count();
      const [save = '', bring = ''] = blocksOf('Another host');

      const saved = await runBlock(save, old, server.token);
      const answers = answersIn(saved.out);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(answers.slice(2).map(({ body }) => [body.app, body.status, body.error])).toEqual([
        ['shopdb', 'done', null],
        [null, 'done', null],
      ]);
      // A backup that is newer than that of the server is the one that counts.
      await client.query('CREATE TABLE late (text text)');
      const later = await server.api('POST', '/api/apps/shopdb/backups?wait=true');
      expect(later.body.status).toBe('done');
      await load.end();
      const all = load.count();
      await client.end();
      const listed = (await server.api('GET', '/api/system/backups')).body;
      expect(listed.total).toBe(1);
      const [settings] = await rowsOf(
        old.root,
        "SELECT value FROM hosting_settings WHERE key = 'instance'",
      );
      instance = settings!['value'] as string;
      await server.stop();

      const fresh = await makeHost('fresh', PODMAN);
      const other = ['--key', Buffer.alloc(32).toString('base64')];
      const wrong = await runBlock(`npx generator host restore ${mount} ${other.join(' ')}`, fresh);
      expect([wrong.code, wrong.out]).toEqual([2, expect.stringContaining('BACKUP_KEY_WRONG')]);
      const brought = await runBlock(bring, fresh);
      expect([brought.code, brought.out]).toEqual([0, expect.anything()]);
      const [dry, real] = answersIn(brought.out);
      expect([dry.dry_run, real.dry_run, real.apps]).toEqual([true, false, dry.apps]);
      expect(real.apps).toEqual([
        expect.objectContaining({
          name: 'shopdb',
          backup: expect.stringContaining(later.body.id),
        }),
        expect.objectContaining({ name: 'web', volumes: [], backup: null }),
      ]);
      const again = await runBlock(bring, fresh);
      expect([again.code, again.out]).toEqual([5, expect.stringContaining('HOST_NOT_EMPTY')]);

      const back = await start(fresh);
      const status = async (name: string) => {
        const { body } = await back.api('GET', `/api/apps/${name}`);
        return body.status === 'failed' ? `${body.status}: ${body.error}` : body.status;
      };
      for (const name of ['shopdb', 'web'])
        await expect.poll(() => status(name), { timeout: 60_000, interval: 300 }).toBe('running');
      const restored = await connect(PODMAN, password);
      const { rows } = await restored.query(
        'SELECT count(*)::int AS count, max(id) AS last FROM orders',
      );
      // What was committed before the backup began is there, and nothing is missing between the rows.
      expect(rows[0].count).toBe(rows[0].last + 1);
      expect(rows[0].count).toBeGreaterThan(before);
      expect(rows[0].count).toBeLessThanOrEqual(all);
      expect((await restored.query('SELECT * FROM late')).rows).toEqual([]);
      await restored.end();
      const { body: page } = await back.api('GET', '/api/apps/web');
      expect(page.env).toEqual({ COLOR: 'blue' });
      // The records of both are there, and the target is reached from here.
      const { backups } = (await back.api('GET', '/api/apps/shopdb/backups')).body;
      expect(backups.map(({ id, status: is }: any) => [id, is])).toEqual([
        [later.body.id, 'done'],
        [answers[2].body.id, 'done'],
      ]);
      const tried = await back.api(
        'POST',
        `/api/apps/shopdb/backups/${later.body.id}/verify?wait=true`,
      );
      expect([tried.body.error, typeof tried.body.verified_at]).toEqual([null, 'string']);
      await back.stop();
    }, 240_000);
  }),
);

async function rowsOf(root: string, statement: string): Promise<Record<string, unknown>[]> {
  const database = new DatabaseSync(join(root, 'data/app.db'), { readOnly: true });
  const rows = database.prepare(statement).all();
  database.close();
  return rows as Record<string, unknown>[];
}
