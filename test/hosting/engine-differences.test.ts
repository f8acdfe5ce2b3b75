import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../runtime/hosting/engine/dockerode/client.ts';
import { toEngineError } from '../../runtime/hosting/engine/errors.ts';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceFiles } from '../source-files.ts';
import { startServer, type TestServer } from './server.ts';

describeEachEngine('an app, where engines differ', ({ socket }) => {
  let server: TestServer;
  let images: string[];
  beforeAll(async () => {
    images = [
      await importImage(socket, 'twofold-test/web:1'),
      await importImage(socket, 'twofold-test/web:2'),
    ];
    server = await startServer({
      socket,
      model: { deploys: { keep: 5, readyTimeout: 6000, drain: 500 } },
    });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  it('says that it was probably the memory', async () => {
    const { status, body } = await server.api('POST', '/api/apps', {
      name: 'hungry',
      image: images[0],
      resources: { memory_mb: 16 },
      command: ['sh', '-c', 'tail /dev/zero'],
    });
    expect([status, body.error]).toEqual([
      502,
      expect.stringMatching(/exit code 137 \(probably out of memory: the limit is 16 MB\)/),
    ]);
  });

  it('says which program is not there', async () => {
    const { status, body } = await server.api('POST', '/api/apps', {
      name: 'nothing',
      image: images[0],
      command: ['/no/such/program'],
    });
    expect([status, body.error]).toEqual([
      502,
      expect.stringMatching(/exit code (127|1)(\. Last line: .*no such.*)?$/i),
    ]);
  });

  it('that does not answer is told where it listens', async () => {
    const ends = await Promise.all(
      [
        ['other-port', 'exec httpd -f -p 9090 -h /www'],
        ['itself', 'exec httpd -f -p 127.0.0.1:8080 -h /www'],
        ['never', 'sleep 60'],
      ].map(async ([name, command]) => {
        const app = { name, image: images[0], command: ['sh', '-c', command] };
        return (await server.api('POST', '/api/apps', app)).body.error as string;
      }),
    );
    expect(ends).toEqual([
      expect.stringMatching(/It listens on port 9090: set the app's port.* PORT, which is 8080/),
      expect.stringMatching(/It listens on 127\.0\.0\.1:8080, .* let it listen on 0\.0\.0\.0/),
      expect.stringMatching(/It listens on no port/),
    ]);
    const page = await server.visit('never.apps.test', '/', { headers: { accept: 'text/html' } });
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('does not run')]);
  });

  it('gets new limits by a new container', async () => {
    await server.api('POST', '/api/apps', {
      name: 'limits',
      image: images[0],
      resources: { memory_mb: 32 },
    });
    const { status, body } = await server.api('PATCH', '/api/apps/limits?apply=true', {
      resources: { memory_mb: 48 },
    });
    expect([status, body.resources?.memory_mb]).toEqual([200, 48]);
    const { replicas } = (await server.api('GET', '/api/apps/limits/stats')).body;
    expect(
      replicas.map(({ memory_limit_bytes }: { memory_limit_bytes: number }) => memory_limit_bytes),
    ).toEqual([48 * 2 ** 20]);
  });

  it('stays what it was when the tag that it was deployed by moves', async () => {
    const tag = async (image: string) =>
      callEngine(socket, {
        method: 'POST',
        path: `/images/${image}/tag?repo=localhost/moving-${server.folder.slice(-6).toLowerCase()}&tag=1`,
      });
    const name = `localhost/moving-${server.folder.slice(-6).toLowerCase()}:1`;
    await tag(images[0] as string);
    expect((await server.api('POST', '/api/apps', { name: 'moving', image: name })).status).toBe(
      201,
    );
    await tag(images[1] as string);
    await server.api('POST', '/api/apps/moving/restart');
    expect((await server.visit('moving.apps.test')).text).toBe('version 1\n');
    await server.api('POST', '/api/apps/moving/deploy', { image: name });
    expect((await server.visit('moving.apps.test')).text).toBe('version 2\n');
    await server.api('POST', '/api/apps/moving/rollback');
    expect((await server.visit('moving.apps.test')).text).toBe('version 1\n');
    await callEngine(socket, { method: 'DELETE', path: `/images/${name}` });
  });
});

describe('the drivers', () => {
  it('use nothing that works on one engine alone: attach, top, update, distribution, a replay of events, restart policies', () => {
    const text = sourceFiles('runtime/hosting/engine')
      .filter((path) => !path.includes('/swarm/'))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n');
    expect(
      text.match(
        /\.attach\(|\.top\(|\)\.update\(|\.distribution\(|until:|followProgress\(|Name: '(?:always|unless-stopped|on-failure)'/g,
      ),
    ).toBeNull();
  });

  it('are asked over connections that are kept, and that nothing else looks into at each call', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'tf-agent-')), 'engine.sock');
    const engine = createServer((_request, response) => response.end()).listen(path);
    const agent = createAgent();
    const ask = () =>
      new Promise((resolve) =>
        request({ socketPath: path, agent, headers: { 'x-large': 'x'.repeat(1000) } }, (answer) =>
          answer.resume().on('end', resolve),
        ).end(),
      );
    await Promise.all(Array.from({ length: 20 }, ask));
    expect(Object.values(agent.freeSockets).flat().length).toBe(20);
    // As the library does for its debug log.
    expect(inspect({ agent }, { showHidden: true, depth: null }).length).toBeLessThan(100);
    agent.destroy();
    engine.close();
  });

  it("read what failed from the engine's own words, not from the library's guess", () => {
    expect(
      toEngineError({
        statusCode: 404,
        reason: 'no such container',
        json: { message: 'No such image: a:1' },
      }),
    ).toMatchObject({ kind: 'not_found', message: 'No such image: a:1' });
    expect(
      toEngineError({
        statusCode: 500,
        json: { cause: 'x', message: 'the container name "a" is already in use' },
      }),
    ).toMatchObject({ kind: 'conflict' });
    expect(toEngineError({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' })).toMatchObject({
      kind: 'unavailable',
      status: 503,
    });
    expect(
      toEngineError({ statusCode: 500, json: { message: 'write /x: no space left on device' } }),
    ).toMatchObject({ kind: 'disk', status: 507 });
  });
});
