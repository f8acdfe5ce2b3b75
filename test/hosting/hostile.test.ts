import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import {
  hostileArchives,
  hostileCalls,
  hostileDockerfiles,
  hostileGitUrls,
  hostileWebhooks,
} from './hostile.ts';
import { startServer, testModel, token, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-hostile-'));
process.env['TMPDIR'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Counts who comes to this machine's loopback. */
async function listen() {
  const heard: string[] = [];
  const servers: Server[] = [];
  let port = 0;
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer(
      (socket) =>
        void socket
          .on('error', () => {})
          .once('data', (data) => heard.push(`${host}: ${data.toString('latin1').slice(0, 80)}`))
          .end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'),
    );
    server.on('connection', () => heard.push(`${host} was called`));
    port = await new Promise<number>((resolve) =>
      server
        .once('error', () => resolve(port))
        .listen(port, host, () => resolve((server.address() as AddressInfo).port)),
    );
    servers.push(server);
  }
  return { port, heard, close: () => servers.forEach((server) => server.close()) };
}

describeEachEngine('who means harm', ({ kind, socket }) => {
  let server: TestServer;
  let loopback: Awaited<ReturnType<typeof listen>>;
  let left: string[];
  const here = (text: string) => text.replaceAll('8080', String(loopback.port));
  /** Tags of this server's images: other tests build on the same engine meanwhile. */
  const images = async () => {
    const database = new DatabaseSync(join(server.folder, 'data/app.db'), { readOnly: true });
    const { value } = database
      .prepare("SELECT value FROM hosting_settings WHERE key = 'instance'")
      .get() as { value: string };
    database.close();
    const all = await engineJson<{ RepoTags: string[] | null }[]>(socket, {
      path: '/images/json?all=1',
    });
    return all
      .flatMap(({ RepoTags }) => RepoTags ?? [])
      .filter((tag) => tag.startsWith(`localhost/twofold-${value}/`));
  };

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    loopback = await listen();
    server = await startServer({
      socket,
      model: { source: { max: 4_000_000, maxUnpacked: 2_000_000, entries: 100 } },
    });
    writeFileSync(join(server.folder, 'secret.yaml'), 'name: Secret\nimage: x:1\n');
    await server.api('POST', '/api/apps', { name: 'shop' });
    left = readdirSync(folder).sort();
  });
  afterAll(async () => {
    await server?.end();
    loopback?.close();
  });

  /** Nothing was made, nothing is left, and nobody was called. */
  async function expectUntouched() {
    const { body } = await server.api('GET', '/api/apps');
    expect(body.apps.map(({ name }: { name: string }) => name)).toEqual(['shop']);
    expect((await server.api('GET', '/api/apps/shop/deployments')).body.deployments).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(left);
    expect(readdirSync(server.folder).sort()).toEqual(['data', 'secret.yaml']);
    expect(loopback.heard).toEqual([]);
    expect(await images()).toEqual([]);
  }

  it(`is refused ${hostileArchives.length} archives, by name, and nothing of them is written`, async () => {
    expect(hostileArchives.length).toBeGreaterThanOrEqual(30);
    for (const [title, tar, message] of hostileArchives) {
      const { status, body } = await server.api(
        'POST',
        '/api/deploy?wait=true',
        sourceForm({ name: 'bad' }, gzipSync(tar)),
      );
      expect([title, status, body.error]).toEqual([title, 422, expect.stringMatching(message)]);
    }
    await expectUntouched();
  });

  it(`is refused ${hostileDockerfiles.length} Dockerfiles, with what they may not do, and none reaches loopback`, async () => {
    expect(hostileDockerfiles.length).toBeGreaterThanOrEqual(20);
    for (const [title, Dockerfile, message] of hostileDockerfiles) {
      const { status, body } = await server.api(
        'POST',
        '/api/deploy?wait=true',
        sourceForm({ name: 'bad' }, tarGzOf({ Dockerfile: here(Dockerfile) })),
      );
      expect([title, status, body.error]).toEqual([title, 422, expect.stringMatching(message)]);
    }
    await expectUntouched();
  });

  // Podman says of no image what it does to builds on it: there `hosting.build.from` is what holds.
  const holds = kind === 'docker' ? it : () => {};
  holds(
    'is refused an image that would fetch from loopback in every build on it',
    async () => {
      const base = `localhost:5999/onbuild-${Date.now()}`;
      const { Id } = await engineJson<{ Id: string }>(socket, {
        method: 'POST',
        path: '/containers/create',
        json: { Image: 'docker.io/twofold-test/web:1' },
      });
      await engineJson(socket, {
        method: 'POST',
        path: `/commit?container=${Id}&repo=${base}&tag=1&changes=${encodeURIComponent(here('ONBUILD ADD http://127.0.0.1:8080/x /x'))}`,
        json: {},
      });
      const named = await startServer({
        socket,
        model: { build: { ...testModel().build, from: ['*', 'localhost:5999/*'] } },
      });
      try {
        const { status, body } = await named.api(
          'POST',
          '/api/deploy?wait=true',
          sourceForm({ name: 'bad' }, tarGzOf({ Dockerfile: `FROM ${base}:1\n` })),
        );
        expect([status, body.error]).toEqual([
          422,
          expect.stringMatching(/ADD of an address is not allowed/),
        ]);
        expect(loopback.heard).toEqual([]);
      } finally {
        await named.end();
        for (const path of [`/containers/${Id}?force=1`, `/images/${base}:1?force=1`])
          await callEngine(socket, { method: 'DELETE', path });
      }
    },
    60_000,
  );

  it(`is refused ${hostileGitUrls.length} addresses of git, and none is asked`, async () => {
    expect(hostileGitUrls.length).toBeGreaterThanOrEqual(20);
    for (const [title, url, message] of hostileGitUrls) {
      for (const body of [{ git: { url: here(url) } }, { git_url: here(url), branch: 'main' }]) {
        const answer = await server.api('POST', '/api/apps/shop/deploy', body);
        expect([title, answer.status, answer.body.error]).toEqual([
          title,
          400,
          expect.stringMatching(message),
        ]);
      }
    }
    await expectUntouched();
  });

  it('is refused names, paths, environments and webhooks, each with what is wrong', async () => {
    const { secret } = (await server.api('PUT', '/api/apps/shop/webhook')).body;
    const all = [...hostileCalls, ...hostileWebhooks(secret)];
    expect(all.length).toBeGreaterThanOrEqual(20);
    for (const [title, { method, path, body, headers, status }, message] of all) {
      const answer = await server.api(method, path, body, headers);
      expect([title, answer.status, answer.body.error ?? answer.body]).toEqual([
        title,
        status,
        expect.stringMatching(message),
      ]);
      expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\/runtime\/|at \w+ \(/);
    }
    await expectUntouched();
    expect((await server.api('GET', '/api/apps/shop')).body).toMatchObject({
      status: 'created',
      env: {},
    });
  });

  it('gets the answer to what is too large while it still sends, and the connection goes on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, headers: Record<string, string>, body: Buffer) =>
      new Promise<string>((resolve) => {
        const sent = request(
          `${server.url}${path}`,
          {
            agent,
            method,
            headers: {
              authorization: `Bearer ${token}`,
              'content-length': String(body.length),
              ...headers,
            },
          },
          (answer) => {
            let text = '';
            answer
              .setEncoding('utf8')
              .on('data', (data) => (text += data))
              .on('end', () => resolve(`${answer.statusCode} ${text}`));
          },
        );
        sent.on('error', (error) => resolve(error.message)).end(body);
      });
    const { secret } = (await server.api('PUT', '/api/apps/shop/webhook')).body;
    const form = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="source"\r\n\r\n'),
      gzipSync(randomBytes(20_000_000), { level: 0 }),
      Buffer.from('\r\n--b--\r\n'),
    ]);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(
        await send(
          'POST',
          '/api/webhooks/shop',
          { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': secret },
          Buffer.alloc(20_000_000),
        ),
      ).toMatch(/^413 /);
      expect(await send('GET', '/api/apps', {}, Buffer.alloc(0))).toMatch(/^200 /);
      expect(
        await send(
          'POST',
          '/api/deploy',
          { 'content-type': 'multipart/form-data; boundary=b' },
          form,
        ),
      ).toMatch(/^(413|422) /);
      expect(await send('GET', '/api/apps', {}, Buffer.alloc(0))).toMatch(/^200 /);
    }
    agent.destroy();
    await expectUntouched();
  });
});
