import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { ConfigError } from '../../runtime/core/errors.ts';
import { describeEachEngine } from '../engines/available.ts';
import { needCommand } from '../engines/command.ts';
import { importImage } from '../engines/import-image.ts';
import { scraper, startServer, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-domains-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A certificate for one host, or one that has ended. */
function certify(host: string, days = '2') {
  const [key, certificate] = [join(folder, `${host}.key`), join(folder, `${host}.crt`)];
  execFileSync(
    needCommand('openssl', 'openssl'),
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      key,
      '-out',
      certificate,
      '-days',
      days,
      '-subj',
      '/CN=x',
      '-addext',
      `subjectAltName=DNS:${host}`,
    ],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
}

function visitSecure(port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = get(
      {
        host: '127.0.0.1',
        port,
        servername: host,
        headers: { host },
        rejectUnauthorized: false,
        agent: false,
      },
      (answer) => {
        let text = '';
        answer
          .on('data', (chunk) => (text += chunk))
          .on('end', () => resolve(`${answer.statusCode} ${text}`));
      },
    );
    sent.on('error', reject);
  });
}

describeEachEngine('the domain of an app', ({ socket }) => {
  let server: TestServer;
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  it("takes a certificate of one's own, and plain requests are sent on to it from then", async () => {
    await server.api('POST', '/api/apps', {
      name: 'safe',
      image: web,
      domain: 'safe.example.test',
    });
    await server.api('POST', '/api/apps', { name: 'plain', image: web });
    const { https } = (await server.api('GET', '/api/system/config')).body.ingress;
    expect((await server.visit('safe.example.test')).status).toBe(200);
    expect(
      (await server.api('PUT', '/api/apps/safe/certificate', certify('other.example.test'))).status,
    ).toBe(400);
    expect(
      (await server.api('PUT', '/api/apps/safe/certificate', { certificate: 'x' })).status,
    ).toBe(400);
    const put = await server.api('PUT', '/api/apps/safe/certificate', certify('safe.example.test'));
    expect([put.status, put.body.hosts]).toEqual([200, ['safe.example.test']]);
    expect(JSON.stringify(put.body)).not.toContain('PRIVATE');
    expect(await visitSecure(https, 'safe.example.test')).toBe('200 version 1\n');
    expect((await server.api('GET', '/api/apps/safe')).body.url).toBe(
      `https://safe.example.test:${https}`,
    );

    for (const [path, method] of [
      ['/', 'GET'],
      ['/a/b?c=d&e=%2F', 'POST'],
    ] as const) {
      const { status, headers } = await server.visit('safe.example.test', path, {
        method,
        ...(method === 'POST' && { body: 'x=1' }),
      });
      expect([status, headers['location']]).toEqual([
        308,
        `https://safe.example.test:${https}${path}`,
      ]);
    }
    // A host without a certificate and a host that nobody has are as they were; that an authority's challenge is answered, a renewal in tls.test.ts shows.
    expect((await server.visit('plain.apps.test')).status).toBe(200);
    expect((await server.visit('nobody.example.test')).status).toBe(404);
    // A redirect would end a WebSocket, whose client follows none: it is tried as it is, and the app has none.
    const socketAnswer = await new Promise<number>((resolve) => {
      const opened = new WebSocket(`ws://127.0.0.1:${server.ingress}/`, {
        headers: { host: 'safe.example.test' },
      });
      opened
        .on(
          'unexpected-response',
          (_, answer) => (resolve(answer.statusCode ?? 0), opened.terminate()),
        )
        .on('error', () => resolve(0));
    });
    expect(socketAnswer).not.toBe(308);
  });

  it("stands beside the server's own host, which has a certificate too; its requests are listed", async () => {
    const own = await startServer({ socket, env: { APP_URL: 'https://panel.example.test' } });
    try {
      const pair = certify('panel.example.test');
      const put = await own.api('PUT', '/api/system/certificate', pair);
      expect([put.status, put.body.hosts]).toEqual([200, ['panel.example.test']]);
      const { https } = (await own.api('GET', '/api/system/config')).body.ingress;
      expect(await visitSecure(https, 'panel.example.test')).toMatch(/^404 .*Not found/i);
      const made = await own.api('POST', '/api/apps', { name: 'seen', image: web });
      expect(made.body).toMatchObject({ domain: 'seen.apps.test', status: 'running' });
      expect((await own.visit('seen.apps.test', '/?a=secret')).status).toBe(200);
      const { body } = await own.api('GET', '/api/apps/seen/requests');
      expect([body.total, body.requests[0].path, body.requests[0].status]).toEqual([1, '/', 200]);
      await own.clear();
    } finally {
      await own.end();
    }
  });

  it('sends nothing on with HOSTING_REDIRECT=off', async () => {
    const quiet = await startServer({ socket, env: { HOSTING_REDIRECT: 'off' } });
    try {
      await quiet.api('POST', '/api/apps', {
        name: 'edge',
        image: web,
        domain: 'edge.example.test',
      });
      expect(
        (await quiet.api('PUT', '/api/apps/edge/certificate', certify('edge.example.test'))).status,
      ).toBe(200);
      expect((await quiet.visit('edge.example.test')).text).toBe('version 1\n');
      expect(
        await visitSecure(
          (await quiet.api('GET', '/api/system/config')).body.ingress.https,
          'edge.example.test',
        ),
      ).toBe('200 version 1\n');
    } finally {
      await quiet.end();
    }
  });

  it('is measured for Prometheus, alone and with all others', async () => {
    await server.api('POST', '/api/apps', { name: 'gauge', image: web });
    const own = await server.api('GET', '/api/apps/gauge/metrics');
    expect([own.status, own.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(own.body).toMatch(/^# TYPE twofold_app_memory_bytes gauge$/m);
    expect(
      own.body.match(/app="([a-z]+)"/g).every((label: string) => label === 'app="gauge"'),
    ).toBe(true);
    expect((await server.api('GET', '/metrics', undefined, scraper)).body).toContain('app="gauge"');
    expect((await server.api('GET', '/api/apps/nobody/metrics')).status).toBe(404);
  });

  it('deploys on pushes no more when its webhook is deleted', async () => {
    await server.api('POST', '/api/apps', { name: 'hooked' });
    const { secret } = (await server.api('PUT', '/api/apps/hooked/webhook')).body;
    const ping = async (given: string) =>
      (
        await server.api('POST', '/api/webhooks/hooked', new TextEncoder().encode('{}'), {
          authorization: '',
          'x-gitlab-event': 'ping',
          'x-gitlab-token': given,
        })
      ).status;
    expect([
      await ping(secret),
      (await server.api('GET', '/api/apps/hooked/webhook')).body.enabled,
    ]).toEqual([200, true]);
    // A new secret ends the old one.
    const again = (await server.api('PUT', '/api/apps/hooked/webhook')).body.secret;
    expect([await ping(secret), await ping(again)]).toEqual([401, 200]);
    expect((await server.api('DELETE', '/api/apps/hooked/webhook')).body).toEqual({
      status: 'deleted',
    });
    expect([
      await ping(again),
      (await server.api('GET', '/api/apps/hooked/webhook')).body.enabled,
    ]).toEqual([401, false]);
  });

  it('is not served at all by a server with a setting that is none', async () => {
    for (const env of [
      { HOSTING_REDIRECT: 'maybe' },
      { HOSTING_INGRESS: 'both' },
      { HOSTING_REACH: 'magic' },
      { HOSTING_LOGS: 'both' },
    ]) {
      await expect(startServer({ socket, env }), JSON.stringify(env)).rejects.toThrow(ConfigError);
    }
  });
});
