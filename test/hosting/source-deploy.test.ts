import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const SERVER = `import { createServer } from 'node:http';
createServer((request, response) => response.end(process.env.WORD + ' ' + process.getuid())).listen(process.env.PORT);
process.on('SIGTERM', () => process.exit(0));`;

/** A busy machine takes its time to read a program of 100 MB for the first time. */
const MODEL = { deploys: { keep: 5, readyTimeout: 60_000, drain: 5000 } };

const ownDockerfile = tarGzOf({
  Dockerfile:
    'FROM docker.io/twofold-test/node:1\nCOPY . /app\nRUN echo building\nCMD ["node", "server.mjs"]\n',
  'server.mjs': SERVER,
});

/** Why a deployment failed, or its call was refused. */
const why = ({ reason, error }: { reason?: string; error?: string }) => reason ?? error ?? null;

const folder = mkdtempSync(join(tmpdir(), 'tf-source-'));
process.env['TMPDIR'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeEachEngine('source', ({ socket }) => {
  let server: TestServer;

  beforeAll(async () => {
    const node = await importImage(socket, 'twofold-test/node:1');
    // The name that the generated Dockerfile builds on.
    await callEngine(socket, {
      method: 'POST',
      path: `/images/${node}/tag?repo=docker.io/library/node&tag=24-slim`,
    });
    server = await startServer({ socket, model: MODEL });
  });
  afterAll(() => server?.end());

  let names = 0;
  /** A test that is tried again has an app of its own each time. */
  const fresh = (word: string) => `${word}-${(names += 1)}`;
  const logOf = async (name: string, number = 1): Promise<string> =>
    (await server.api('GET', `/api/apps/${name}/deployments/${number}/logs`)).body;
  /** The first deployment once it is over, whichever way. */
  async function settled(name: string) {
    const read = async () => (await server.api('GET', `/api/apps/${name}/deployments/1`)).body;
    await expect
      .poll(async () => (await read()).status, { timeout: 150_000, interval: 200 })
      .toMatch(/^(healthy|failed)$/);
    return read();
  }

  it('with a Dockerfile is built and deployed', async () => {
    const name = fresh('built');
    const { status, body } = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, port: 3000, env: { WORD: 'hello' } }, ownDockerfile),
    );
    expect([status, body.status, why(body), await logOf(name)]).toEqual([
      200,
      'healthy',
      null,
      expect.stringMatching(/building/),
    ]);
    expect((await server.visit(`${name}.apps.test`)).text).toBe('hello 0');
    expect((await server.api('GET', `/api/apps/${name}`)).body).toMatchObject({
      status: 'running',
      port: 3000,
      source: { kind: 'tarball' },
    });
    expect(
      (await server.api('GET', `/api/apps/${name}/deployments/1/logs`)).headers.get('content-type'),
    ).toContain('text/plain');
  });

  it('of a Node project needs no Dockerfile, and runs without root', async () => {
    const name = fresh('made');
    const archive = tarGzOf({
      'my-app/package.json': JSON.stringify({
        type: 'module',
        scripts: { start: 'node server.mjs' },
      }),
      'my-app/server.mjs': SERVER,
    });
    const answer = await server.api(
      'POST',
      '/api/deploy',
      sourceForm({ name, port: 3000, env: { WORD: 'hi' } }, archive),
    );
    expect([
      answer.status,
      answer.body.status,
      answer.headers.get('location'),
      answer.body.error,
    ]).toEqual([202, 'building', `/api/apps/${name}/deployments/1`, undefined]);
    expect((await server.api('GET', `/api/apps/${name}`)).body.status).toBe('building');
    const followed = await server.api('GET', `/api/apps/${name}/deployments/1/logs?follow=true`);
    expect(followed.body).toMatch(/made for node \(npm\)/);
    const { status, reason, log } = await settled(name);
    expect([status, reason, log, await logOf(name)]).toEqual([
      'healthy',
      null,
      expect.anything(),
      followed.body,
    ]);
    expect((await server.visit(`${name}.apps.test`)).text).toBe('hi 1000');
  });

  it('that fails to build is never a success, and leaves the old deployment alone', async () => {
    const name = fresh('kept');
    const first = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, port: 3000, env: { WORD: 'hello' } }, ownDockerfile),
    );
    expect([first.status, why(first.body)]).toEqual([200, null]);
    const broken = tarGzOf({
      Dockerfile: 'FROM docker.io/twofold-test/node:1\nRUN echo no such luck && exit 7\n',
    });
    const waited = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, port: 3000 }, broken),
    );
    expect([waited.status, waited.body]).toEqual([
      422,
      { error: expect.stringMatching(/build failed.*7/) },
    ]);
    expect((await server.visit(`${name}.apps.test`)).text).toBe('hello 0');
    const { deployments } = (await server.api('GET', `/api/apps/${name}/deployments`)).body;
    expect(deployments[0]).toMatchObject({ number: 2, status: 'failed', current: false });
    expect(await logOf(name, 2)).toMatch(/no such luck[^]*ERROR/);
  });

  it('that failed to build is built again on request, until it is built', async () => {
    const name = fresh('again');
    const needs = tarGzOf({
      Dockerfile:
        'FROM docker.io/twofold-test/node:1\nARG WORD=none\nRUN test $WORD = there\nCOPY . /app\nCMD ["node", "server.mjs"]\n',
      'server.mjs': SERVER,
    });
    // Uploads of other tests that could not be built are there as well.
    const isKept = (app: string) => existsSync(join(server.folder, 'data/uploads', `${app}.tar`));
    const config = { name, port: 3000, env: { WORD: 'once more' } };
    const first = await server.api('POST', '/api/deploy?wait=true', sourceForm(config, needs));
    expect(first.status).toBe(422);
    const again = () => server.api('POST', `/api/apps/${name}/deploy?wait=true`, {});
    expect((await again()).body.error).toMatch(/build failed/);
    const { id } = (await server.api('GET', `/api/apps/${name}`)).body;
    expect(isKept(id)).toBe(true);
    // It outlives the server, and the settings of the app are its present ones.
    await server.stop();
    server = await startServer({ socket, folder: server.folder, model: MODEL });
    await server.api('PATCH', `/api/apps/${name}`, { build: { args: { WORD: 'there' } } });
    const third = await again();
    expect([third.status, third.body.status, why(third.body)]).toEqual([200, 'healthy', null]);
    expect(third.body.source).toEqual({ kind: 'tarball', sha256: expect.any(String) });
    expect((await server.visit(`${name}.apps.test`)).text).toBe('once more 0');
    expect(isKept(id)).toBe(false);
    const broken = tarGzOf({ Dockerfile: 'FROM docker.io/twofold-test/node:1\nRUN exit 7\n' });
    await server.api('POST', '/api/deploy?wait=true', sourceForm(config, broken));
    expect(isKept(id)).toBe(true);
    await server.api('DELETE', `/api/apps/${name}`);
    expect(isKept(id)).toBe(false);
  }, 240_000);

  it('reaches nothing that listens on this machine alone while it is built', async () => {
    const { port } = new URL(server.url);
    const reach = tarGzOf({
      Dockerfile: `FROM docker.io/twofold-test/node:1\nRUN node -e "fetch('http://127.0.0.1:${port}/api/health').then(() => console.log('REACHED'), () => console.log('shut'))"\nCMD ["node", "-e", "require('http').createServer((q, r) => r.end()).listen(process.env.PORT)"]\n`,
    });
    const name = fresh('nosy');
    const { status, body } = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, port: 3000 }, reach),
    );
    expect([status, why(body)]).toEqual([200, null]);
    const log = (await logOf(name))
      .split('\n')
      .filter((line: string) => !line.includes('console.log'));
    expect(log).toContain('shut');
    expect(log).not.toContain('REACHED');
  });

  it('that policy refuses is refused before anything is made', async () => {
    const add = tarGzOf({
      Dockerfile: 'FROM docker.io/twofold-test/node:1\nADD http://169.254.169.254/latest /x\n',
    });
    expect(
      (await server.api('POST', '/api/deploy', sourceForm({ name: 'bad', port: 1 }, add))).status,
    ).toBe(422);
    const escape = tarGzOf([
      ['Dockerfile', 'FROM scratch\n'],
      ['up', { kind: 'symlink', target: '../../etc' }],
    ]);
    expect(
      (await server.api('POST', '/api/deploy', sourceForm({ name: 'bad', port: 1 }, escape))).body
        .error,
    ).toBe('The link "up" leads out of the archive');
    expect(
      (
        await server.api(
          'POST',
          '/api/deploy',
          sourceForm({ name: 'Bad', port: 1 }, tarGzOf({ 'index.html': 'x' })),
        )
      ).status,
    ).toBe(400);
    expect(
      (
        await server.api(
          'POST',
          '/api/deploy',
          sourceForm({ name: 'bad', port: 1, colour: 'red' }, tarGzOf({ 'index.html': 'x' })),
        )
      ).body,
    ).toEqual({ error: 'colour is not a known field' });
    expect(
      (await server.api('POST', '/api/deploy', sourceForm('{', tarGzOf({ 'index.html': 'x' }))))
        .body,
    ).toEqual({ error: 'config is not valid JSON' });
    expect((await server.api('POST', '/api/deploy', { name: 'bad' })).status).toBe(415);
    expect((await server.api('GET', '/api/apps/bad')).status).toBe(404);
  });

  it('that is too large, or that the disk has no room for, is refused', async () => {
    const small = await startServer({
      socket,
      model: {
        source: { max: 20_000, maxUnpacked: 1_000_000, entries: 100 },
        diskFloor: Number.MAX_SAFE_INTEGER,
      },
    });
    const large = tarGzOf({ Dockerfile: 'FROM scratch\n', noise: { data: randomBytes(60_000) } });
    expect(large.length).toBeGreaterThan(20_000);
    expect(
      (await small.api('POST', '/api/deploy', sourceForm({ name: 'large', port: 1 }, large)))
        .status,
    ).toBe(413);
    expect(
      (
        await small.api(
          'POST',
          '/api/deploy?wait=true',
          sourceForm({ name: 'full', port: 1 }, tarGzOf({ Dockerfile: 'FROM scratch\n' })),
        )
      ).status,
    ).toBe(507);
    await small.end();
  });

  it('is cancelled when its app is deleted', async () => {
    const slow = tarGzOf({ Dockerfile: 'FROM docker.io/twofold-test/node:1\nRUN sleep 100\n' });
    const name = fresh('slow');
    expect(
      (await server.api('POST', '/api/deploy', sourceForm({ name, port: 1 }, slow))).status,
    ).toBe(202);
    const began = Date.now();
    expect((await server.api('DELETE', `/api/apps/${name}`)).status).toBe(200);
    expect(Date.now() - began).toBeLessThan(60_000);
    expect((await server.api('GET', `/api/apps/${name}`)).status).toBe(404);
  });

  it('leaves no file of its own behind', () => {
    expect(readdirSync(folder).filter((name) => name.startsWith('twofold-source-'))).toEqual([]);
  });
});
