import { chmodSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { swarmDriver } from '../../runtime/hosting/engine/drivers/swarm/swarm.ts';
import type { ContainerSpec } from '../../runtime/hosting/engine/engine.ts';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine } from '../engines/call-engine.ts';
import { startRegistry, type TestRegistry } from '../engines/registry.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-docker-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writeConfig = (value: unknown) =>
  writeFileSync(
    join(folder, 'config.json'),
    typeof value === 'string' ? value : JSON.stringify(value),
  );
const authOf = (user: string, password: string) => ({
  auth: Buffer.from(`${user}:${password}`).toString('base64'),
});

/** A credential helper that answers for one host. */
function writeHelper(name: string, host: string, answer: object): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const file = join(bin, `docker-credential-${name}`);
  const lines = [
    '#!/bin/sh',
    'read -r host',
    `[ "$1 $host" = "get ${host}" ] || { echo "credentials not found"; exit 1; }`,
    `echo '${JSON.stringify(answer)}'`,
  ];
  writeFileSync(file, lines.join('\n'));
  chmodSync(file, 0o755);
}

const env = { DOCKER_CONFIG: folder, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };

describeEachEngine('an image of a private registry', ({ kind, socket }) => {
  let server: TestServer;
  const registries: TestRegistry[] = [];
  beforeAll(async () => {
    writeConfig({});
    for (const auth of ['basic', 'token'] as const) registries.push(await startRegistry(auth));
    server = await startServer({ kind, socket, env });
  });
  afterAll(async () => {
    await server?.end();
    for (const { host, close } of registries) {
      await callEngine(socket, { method: 'DELETE', path: `/images/${host}/web:1?force=1` });
      close();
    }
  });
  const put = (host: string, username: string, password: string) =>
    server.api('PUT', `/api/registries/${host}`, { username, password });
  const forget = (host: string) =>
    callEngine(socket, { method: 'DELETE', path: `/images/${host}/web:1?force=1` });

  it.each([0, 1])('is refused without its user, and runs with them (%i)', async (index) => {
    const registry = registries[index] as TestRegistry;
    const { host } = registry;
    const { name, password } = registry.user as { name: string; password: string };
    const app = { name: 'private', image: `${host}/web:1` };

    const refused = await server.api('POST', '/api/apps', app);
    expect([refused.status, refused.body.error]).toEqual([
      422,
      expect.stringContaining(`PUT /api/registries/${host}`),
    ]);
    expect((await server.api('GET', '/api/apps/private')).status).toBe(404);

    expect((await put(host, name, 'wrong-password')).status).toBe(200);
    const checked = await server.api('POST', `/api/registries/${host}/check`);
    expect(checked.body).toEqual({ ok: false, message: expect.any(String) });
    const wrong = await server.api('POST', '/api/apps', app);
    expect([wrong.status, wrong.body.error]).toEqual([
      422,
      expect.stringContaining(`refuses the user ${name}`),
    ]);
    expect(JSON.stringify([checked.body, wrong.body])).not.toContain('wrong-password');

    expect((await put(host, name, password)).body).toEqual({
      host,
      username: name,
      source: 'api',
    });
    expect((await server.api('POST', `/api/registries/${host}/check`)).body).toEqual({
      ok: true,
    });
    registry.requests.length = 0;
    const made = await server.api('POST', '/api/apps', app);
    expect([made.status, made.body.status]).toEqual([201, 'running']);
    expect((await server.visit('private.apps.test')).text).toBe('version 1\n');

    // Its layers came from another host, which was sent nothing of the user.
    const stored = registry.requests.filter(({ at }) => at === 'storage');
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.map(({ sent }) => sent)).toEqual(stored.map(() => ''));
    await server.clear();
    await server.api('DELETE', `/api/registries/${host}`);
    await forget(host);
  });

  it('is sent the user of its own registry only', async () => {
    const [mine, other] = registries as [TestRegistry, TestRegistry];
    const { name, password } = mine.user as { name: string; password: string };
    await put(mine.host, name, password);
    other.requests.length = 0;
    const refused = await server.api('POST', '/api/apps', {
      name: 'private',
      image: `${other.host}/web:1`,
    });
    expect([refused.status, other.requests.map(({ sent }) => sent)]).toEqual([
      422,
      other.requests.map(() => ''),
    ]);
    await server.api('DELETE', `/api/registries/${mine.host}`);
  });

  it('runs with the user of docker login, whose file is read again when it changes', async () => {
    const [registry] = registries as [TestRegistry];
    const { name, password } = registry.user as { name: string; password: string };
    const app = { name: 'private', image: `${registry.host}/web:1` };
    expect((await server.api('POST', '/api/apps', app)).status).toBe(422);
    writeConfig({ auths: { [registry.host]: authOf(name, password) } });
    expect((await server.api('GET', '/api/registries')).body).toEqual({
      registries: [{ host: registry.host, username: name, source: 'docker-config' }],
      total: 1,
    });
    const made = await server.api('POST', '/api/apps', app);
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    writeConfig({});
    const again = await server.api('POST', '/api/apps/private/deploy', { image: app.image });
    expect(again.status).toBe(422);
    expect((await server.visit('private.apps.test')).status).toBe(200);
    await server.clear();
    await forget(registry.host);
  });

  it('is the base of a build, from a registry that was put here', async () => {
    const [, registry] = registries as [TestRegistry, TestRegistry];
    const { name, password } = registry.user as { name: string; password: string };
    const source = tarGzOf({
      Dockerfile: `FROM ${registry.host}/web:1\nCOPY index.html /www/index.html\n`,
      'index.html': 'built on it',
    });
    const deploy = () =>
      server.api('POST', '/api/deploy?wait=true', sourceForm({ name: 'built' }, source));
    const unnamed = await deploy();
    expect([unnamed.status, unnamed.body.error]).toEqual([
      422,
      expect.stringContaining('hosting.build.from'),
    ]);
    await put(registry.host, name, 'wrong-password');
    const refused = await deploy();
    expect([refused.status, refused.body.error]).toEqual([
      422,
      expect.stringContaining(`PUT /api/registries/${registry.host}`),
    ]);
    await put(registry.host, name, password);
    const built = await deploy();
    expect([built.status, built.body.error]).toEqual([200, undefined]);
    expect((await server.visit('built.apps.test')).text).toBe('built on it');
    await server.clear();
    await server.api('DELETE', `/api/registries/${registry.host}`);
    await forget(registry.host);
  });
});

describe('the users of registries', () => {
  let server: TestServer;
  const lines: string[] = [];
  beforeAll(async () => {
    writeConfig({});
    const logTo = { write: (line: string) => void lines.push(line) };
    server = await startServer({ socket: '/nonexistent.sock', env, logTo });
  });
  afterAll(() => server?.end());
  const list = async () => (await server.api('GET', '/api/registries')).body.registries;

  it('are kept sealed, and never shown', async () => {
    const body = { username: 'ann', password: 'hunter2-hunter2' };
    const put = await server.api('PUT', '/api/registries/Registry.Example.com:5000', body);
    expect(put.body).toEqual({
      host: 'registry.example.com:5000',
      username: 'ann',
      source: 'api',
    });
    const rows = await server.kernel.store.db
      .selectFrom('hosting_registries')
      .selectAll()
      .execute();
    const entries = (await server.api('GET', '/api/system/audit')).body.entries;
    expect(JSON.stringify([rows, await list(), entries])).not.toContain('hunter2');
    expect(entries[0]).toMatchObject({
      action: 'putRegistry',
      target: 'registry:Registry.Example.com:5000',
      detail: { username: 'ann' },
    });
    const gone = await server.api('DELETE', '/api/registries/registry.example.com:5000');
    expect([gone.status, await list()]).toEqual([200, []]);
  });

  it.each([
    ['not a host', { username: 'a', password: 'b' }],
    ['https:%2F%2Fregistry.example.com', { username: 'a', password: 'b' }],
    ['registry', { username: 'a', password: 'b' }],
    ['registry.example.com%2Fteam', { username: 'a', password: 'b' }],
    ['registry.example.com', { username: 'a:b', password: 'c' }],
    ['registry.example.com', { username: 'a', password: 'b\nc' }],
    ['registry.example.com', { username: 'a' }],
    ['registry.example.com', { username: 'a', password: 'b', email: 'c' }],
  ])('are refused for %s %j', async (host, body) => {
    expect((await server.api('PUT', `/api/registries/${host}`, body)).status).toBe(400);
    expect(await list()).toEqual([]);
  });

  it('of docker login come from helpers too, and after those of the API', async () => {
    writeHelper('cloud', 'cloud.example.com', { Username: 'AWS', Secret: 'a-token' });
    writeHelper('store', 'https://index.docker.io/v1/', { Username: '<token>', Secret: 'x' });
    writeConfig({
      auths: { 'https://index.docker.io/v1/': {}, 'https://plain.example.com/v2/': {} },
      credsStore: 'store',
      credHelpers: { 'cloud.example.com': 'cloud', 'away.example.com': 'not-installed' },
    });
    const found = { source: 'docker-config' };
    expect(await list()).toEqual([
      { host: 'away.example.com', username: null, ...found },
      { host: 'cloud.example.com', username: 'AWS', ...found },
      { host: 'docker.io', username: null, ...found },
      { host: 'plain.example.com', username: null, ...found },
    ]);
    await server.api('PUT', '/api/registries/docker.io', { username: 'ann', password: 'b' });
    expect((await list())[2]).toEqual({ host: 'docker.io', username: 'ann', source: 'api' });
    expect((await server.api('DELETE', '/api/registries/docker.io')).status).toBe(200);
    expect((await server.api('DELETE', '/api/registries/docker.io')).status).toBe(409);
    expect((await server.api('DELETE', '/api/registries/none.example.com')).status).toBe(404);
  });

  it('of a damaged file are none, and its text is not in the log', async () => {
    for (const text of ['{"auths": {"a.example.com": {"auth": "c2VjcmV0"', '[]', 'null', '']) {
      writeConfig(text);
      expect(await list()).toEqual([]);
    }
    expect(lines.join('')).toContain('it is no JSON');
    expect(lines.join('')).not.toContain('c2VjcmV0');
    writeConfig({});
  });
});

describe('a machine of a Swarm', () => {
  const spec: ContainerSpec = {
    ...{ name: 'shop', image: '', reference: 'shop:1', labels: {}, env: {}, command: null },
    ...{ port: 8080, publish: false, network: 'apps', aliases: [], volumes: [] },
    ...{ memory: 0, cpus: 0, pids: 0 },
  };

  it('gets the user with whom it pulls the image, and only then', async () => {
    const sent: (string | undefined)[] = [];
    const manager = createServer((request, response) => {
      const [, path = ''] = /^(?:\/v[\d.]+)?(\/[^?]*)/.exec(request.url ?? '') ?? [];
      const answers: Readonly<Record<string, object>> = {
        '/version': { Version: '20.10', Components: [{ Name: 'Engine' }] },
        '/info': { Swarm: { NodeID: 'n1', LocalNodeState: 'active', ControlAvailable: true } },
        '/services/create': { ID: 's1' },
      };
      if (path === '/services/create') sent.push(request.headers['x-registry-auth'] as string);
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers[path] ?? {}));
    });
    await new Promise<void>((resolve) => void manager.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = manager.address() as AddressInfo;
      const engine = await swarmDriver.connect(`tcp://127.0.0.1:${port}`, {});
      const login = { host: 'docker.io', username: 'ann', password: 'secret' };
      for (const given of [login, undefined]) await engine.create(spec, given);
      const [first = '', second] = sent;
      expect(JSON.parse(Buffer.from(first, 'base64url').toString())).toEqual({
        ...{ username: 'ann', password: 'secret' },
        serveraddress: 'https://index.docker.io/v1/',
      });
      expect(second).toBeUndefined();
    } finally {
      manager.closeAllConnections();
      manager.close();
    }
  });
});
