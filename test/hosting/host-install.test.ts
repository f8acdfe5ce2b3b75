import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { localUrl } from '../../generator/host/health.ts';
import { describeWith, engines } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { bootDebian, type Debian, ENGINE, NODE, REPO } from './debian.ts';

const MANIFEST = `name: shop
hosting: {}
auth:
  rate_limits: { global-ip: 1000000/1m }
`;
const SCHEMA = `type User {
  id: ID!
  email: String! @unique
}

type Query {
  users: [User!]!
}
`;

/** Calls the API, inside of the machine. */
const CALL = `const [url, method, Authorization, body] = process.argv.slice(1);
const headers = { 'Content-Type': 'application/json', Authorization };
console.log(await (await fetch(url, { method, headers, body })).text());`;

describeWith('docker', 'host install on Debian 12', () => {
  let debian: Debian;
  let instance = '';
  const project = '/srv/shop';
  const generator = (...words: string[]) =>
    debian.run(NODE, `${REPO}/generator/bin.js`, ...words, '--cwd', project);
  const host = async (...words: string[]) => {
    const { code, stdout, stderr } = await generator('host', ...words, '--json');
    return { code, document: JSON.parse(stdout || '{}'), stderr };
  };
  const install = () => host('install', '--url', 'https://panel.test', '--domain', 'apps.test');
  const at = (...path: string[]) => join(debian.root, ...path);
  const ofUnit = (unit: string, property: string) =>
    debian.read('systemctl', 'show', '--value', '--property', property, unit);

  const settings = () => readFileSync(at('etc/twofold/env'), 'utf8');
  let bearer = '';
  const api = async (method: string, path: string, body?: object) => {
    const words = [localUrl(settings()) + path, method, bearer];
    const sent = body ? [JSON.stringify(body)] : [];
    return JSON.parse(
      await debian.read(NODE, '--input-type=module', '-e', CALL, '--', ...words, ...sent),
    );
  };
  const signIn = async () => {
    const password = parseEnv(settings())['HOST_PASSWORD'];
    bearer = `Bearer ${(await api('POST', '/api/auth/login', { password })).token}`;
  };
  const socket = engines.find(({ kind }) => kind === 'docker')?.socket ?? '';

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    debian = await bootDebian(socket);
    const { gid } = statSync(socket);
    await debian.read('groupadd', '--non-unique', '--gid', String(gid), 'docker');
    mkdirSync(at(project));
    writeFileSync(at(project, 'manifest.yaml'), MANIFEST);
    writeFileSync(at(project, 'schema.graphql'), SCHEMA);
    await debian.read('ln', '-s', `${REPO}/node_modules`, join(project, 'node_modules'));
    expect((await generator('generate')).code).toBe(0);
  });
  afterAll(async () => {
    await debian?.end();
    // A test that failed has left it.
    for (const id of instance ? await containers() : [])
      await callEngine(socket, { method: 'DELETE', path: `/containers/${id}?force=1&v=1` });
  });

  /** Requests to the API by the ingress, from inside of the machine's network. */
  function startLoad() {
    const script = join(import.meta.dirname, 'load-process.ts');
    const program = [process.execPath, script, '80', 'panel.test', '/api/health'];
    const child = spawn('nsenter', ['-t', String(debian.leader), '-n', ...program]);
    const printed = text(child.stdout);
    return async () => {
      child.stdin.end();
      return JSON.parse(await printed) as { ok: number; failures: string[] };
    };
  }

  it('makes services that answer, and that start with the machine', async () => {
    // Of two at once the second is refused, and changes nothing.
    const both = await Promise.all([install(), install()]);
    const [done, refused] = both.toSorted((a, b) => a.code - b.code);
    expect([done?.code, done?.document.ok, done?.stderr]).toEqual([0, true, '']);
    expect([refused?.code, refused?.document.error?.code]).toEqual([75, 'HOST_BUSY']);
    const units = ['twofold.service', 'twofold-ingress.service'];
    expect((await debian.read('systemd-analyze', 'verify', ...units)).trim()).toBe('');
    expect((await debian.read('systemctl', 'is-enabled', ...units)).split('\n')).toEqual([
      ...['enabled', 'enabled'],
    ]);
    expect(await debian.read('stat', '-c', '%a %U', '/etc/twofold/env')).toBe('600 root');
    expect(await ofUnit('twofold.service', 'User')).toBe('twofold');
    const doctor = await host('doctor');
    const wrong = (doctor.document.checks as { id: string; ok: boolean }[])
      .filter((check) => !check.ok)
      .map(({ id }) => id);
    // The machine has no engine, and no name server.
    expect([doctor.code, wrong.filter((id) => !['disk', 'memory', 'clock'].includes(id))]).toEqual([
      ...[1, ['engine', 'live-restore', 'dns']],
    ]);
    const stop = startLoad();
    await sleep(1000);
    const { ok, failures } = await stop();
    expect([ok > 10, failures]).toEqual([true, []]);
  });

  it('upgrades without a failed request, and a release that cannot start gives way to the one before', async () => {
    const first = await ofUnit('twofold.service', 'MainPID');
    const ingress = await ofUnit('twofold-ingress.service', 'MainPID');
    const tasks = () => readdirSync(at('opt/twofold/releases')).sort();
    const stop = startLoad();
    await sleep(500);
    expect(await install()).toMatchObject({ code: 0, document: { ok: true } });
    expect(await ofUnit('twofold.service', 'MainPID')).not.toBe(first);
    const server = readFileSync(at(project, 'src/server.ts'), 'utf8');
    writeFileSync(at(project, 'src/server.ts'), `throw new Error('a broken release');\n`);
    const broken = await install();
    expect([broken.code, broken.document.error.code]).toEqual([1, 'HOST_UNHEALTHY']);
    expect(broken.document.error.message).toContain('a broken release');
    writeFileSync(at(project, 'src/server.ts'), server);
    const { ok, failures } = await stop();
    console.log(`an upgrade and a return: ${failures.length} failed of ${ok} requests`);
    expect([failures.slice(0, 3), ok > 50]).toEqual([[], true]);
    expect(await ofUnit('twofold-ingress.service', 'MainPID')).toBe(ingress);
    expect(tasks()).toHaveLength(3);
  }, 240_000);

  it('is finished by a second run when the first was killed half-way', async () => {
    const words = [`${REPO}/generator/bin.js`, 'host', 'install', '--cwd', project];
    await debian.read(
      'systemd-run',
      '--quiet',
      '--unit=half',
      '--service-type=exec',
      NODE,
      ...words,
    );
    const parts = () =>
      readdirSync(at('opt/twofold/releases')).filter((name) => name.endsWith('.part'));
    await expect.poll(parts, { interval: 5 }).toHaveLength(1);
    // With the program that it had just started.
    await debian.read('systemctl', 'kill', '--signal=KILL', 'half.service');
    expect(parts()).toHaveLength(1);
    expect(await install()).toMatchObject({ code: 0, document: { ok: true } });
    expect(parts()).toEqual([]);
  });

  /** What the engine has of this installation, whose id is known when an app runs. */
  const listed = (path: string) => {
    const filters = JSON.stringify({ label: [`twofold.instance=${instance}`] });
    return engineJson<any>(socket, { path: `${path}filters=${encodeURIComponent(filters)}` });
  };
  const containers = async (): Promise<string[]> =>
    (await listed('/containers/json?all=1&')).map(({ Id }: { Id: string }) => Id);
  const volumes = async () => (await listed('/volumes?')).Volumes ?? [];

  /** A worker, as the machine's network does not reach an app that serves. */
  async function startWorker() {
    await debian.read('ln', '-sf', ENGINE, '/run/docker.sock');
    await signIn();
    const engine = async () => (await api('GET', '/api/system/info')).engine?.kind;
    await expect.poll(engine, { timeout: 60_000, interval: 500 }).toBe('docker');
    const created = await api('POST', '/api/apps', {
      ...{ name: 'kept', image: 'docker.io/twofold-test/web:1', port: null },
      ...{ command: ['sleep', '1000'], health: { command: ['true'] } },
      volumes: [{ name: 'data', path: '/data' }],
    });
    expect(created).toMatchObject({ status: 'running' });
    const label = encodeURIComponent(JSON.stringify({ label: [`twofold.app=${created.id}`] }));
    const [worker] = await engineJson<any>(socket, { path: `/containers/json?filters=${label}` });
    instance = worker.Labels['twofold.instance'];
  }

  it('is removed, with data and apps only by --purge, and continues with what stayed', async () => {
    const env = settings();
    await startWorker();
    const before = await containers();
    expect((await host('uninstall')).code).toBe(0);
    expect([before.length, await containers()]).toEqual([1, before]);
    expect((await debian.run('systemctl', 'status', 'twofold')).code).toBe(4);
    expect((await debian.run('id', 'twofold')).code).toBe(1);
    expect(existsSync(at('opt/twofold/data/app.db'))).toBe(true);
    expect(existsSync(at('opt/twofold/releases'))).toBe(false);
    expect((await host('uninstall')).document.error.code).toBe('HOST_MISSING');
    expect(await install()).toMatchObject({ code: 0, document: { ok: true } });
    expect(settings()).toBe(env);
    await expect
      .poll(async () => (await api('GET', '/api/apps/kept')).status, { timeout: 60_000 })
      .toBe('running');
    expect([await containers(), (await volumes()).length]).toEqual([before, 1]);
    const refused = await host('uninstall', '--purge');
    expect([refused.code, refused.document.error.code]).toEqual([2, 'NOT_AGREED']);
    const purged = await host('uninstall', '--purge', '--yes');
    expect([purged.code, purged.document]).toEqual([
      0,
      { ok: true, purged: true, apps: ['kept'], kept: [] },
    ]);
    expect([await containers(), await volumes(), await listed('/networks?')]).toEqual([[], [], []]);
    for (const path of ['opt/twofold', 'etc/twofold', 'etc/systemd/system/twofold.service'])
      expect(existsSync(at(path))).toBe(false);
  });
});
