import { once } from 'node:events';
import { connect } from 'node:http2';
import { request as requestTls } from 'node:https';
import WebSocket from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask2, selfSigned } from './ingress-client.ts';
import { createIngressRecords } from '../../runtime/hosting/records/settings-table.ts';
import { startConnections, startLoad } from './load.ts';
import { scraper, startServer, token, type TestServer } from './server.ts';

const HOST = 'panel.test';
const start = (folder?: string, env = {}) =>
  startServer({
    socket: '/nowhere/engine.sock',
    ...(folder !== undefined && { folder }),
    env: { APP_URL: `https://${HOST}`, ...env },
  });

describe("the server's own host at the ingress", () => {
  let server: TestServer;
  let https: number;
  beforeAll(async () => {
    server = await start();
    https = (await server.api('GET', '/api/system/config')).body.ingress.https;
  });
  afterAll(() => server.end());

  it('is served without TLS before there is a certificate', async () => {
    const { status, text } = await server.visit(HOST, '/api/health');
    expect([status, JSON.parse(text).status]).toEqual([200, 'ok']);
    expect((await server.visit('other.test', '/api/health')).status).toBe(404);
  });

  it('takes a certificate that fits, and no other', async () => {
    const put = (pair: unknown) => server.api('PUT', '/api/system/certificate', pair);
    const refused = await put(selfSigned('other.test'));
    expect([refused.status, refused.body.error]).toEqual([
      400,
      `certificate is for none of these hosts: ${HOST}`,
    ]);
    const { status, body } = await put(selfSigned(HOST));
    expect([status, body.hosts, Date.parse(body.expires_at) > Date.now()]).toEqual([
      200,
      [HOST],
      true,
    ]);
  });

  it('then redirects plain requests, and sends HSTS over TLS, with HTTP/1.1 and HTTP/2', async () => {
    const plain = await server.visit(HOST, '/api/apps?limit=1');
    expect([plain.status, plain.headers['location']]).toEqual([
      308,
      `https://${HOST}:${https}/api/apps?limit=1`,
    ]);
    const old = requestTls({
      ...{ host: '127.0.0.1', port: https, servername: HOST, path: '/api/health' },
      ...{ headers: { host: HOST }, rejectUnauthorized: false },
    });
    const [answer] = await once(old.end(), 'response');
    expect([answer.statusCode, answer.headers['strict-transport-security']]).toEqual([
      200,
      expect.stringContaining('max-age='),
    ]);
    answer.resume();
    const session = connect(`https://127.0.0.1:${https}`, {
      ...{ servername: HOST, rejectUnauthorized: false },
    });
    const apps = await ask2(session, '/api/apps', {
      headers: { ':authority': HOST, authorization: `Bearer ${token}` },
    });
    expect([apps.status, JSON.parse(apps.text).total]).toEqual([200, 0]);
    session.close();
  });

  it('tells the server the address of the client, and believes nothing that a client says of it', async () => {
    const session = connect(`https://127.0.0.1:${https}`, {
      ...{ servername: HOST, rejectUnauthorized: false },
    });
    const headers = {
      ...{ ':authority': HOST, authorization: `Bearer ${token}` },
      ...{ 'x-forwarded-for': '6.6.6.6', 'content-type': 'application/json' },
    };
    const body = JSON.stringify({ name: 'quay' });
    const made = await ask2(session, '/api/apps', { method: 'POST', headers, body });
    expect(made.status).toBe(201);
    session.close();
    const { entries } = (await server.api('GET', '/api/system/audit')).body;
    expect(entries[0]).toMatchObject({ action: 'createApp', ip: '127.0.0.1' });
  });

  it('passes upgrades to the server', async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${https}/api/nothing`, {
      ...{ headers: { host: HOST }, servername: HOST, rejectUnauthorized: false },
    });
    const [, answer] = await once(socket, 'unexpected-response');
    expect(answer.statusCode).toBe(404);
  });

  it('counts and logs the requests of apps, by app', async () => {
    // An app that was never deployed has a route only after a restart.
    await server.stop();
    server = await start(server.folder);
    await server.visit('quay.apps.test', '/who?a=secret', { headers: { 'user-agent': 'me' } });
    const { status, body } = await server.api('GET', '/api/apps/quay/requests?status=5xx');
    expect([status, body.total]).toEqual([200, 1]);
    expect(body.requests[0]).toMatchObject({
      ...{ app: 'quay', method: 'GET', path: '/who', status: 503, host: 'quay.apps.test' },
      ...{ ip: '127.0.0.1', target: null, user_agent: 'me' },
    });
    expect((await server.api('GET', '/api/apps/quay/requests?status=6xx')).status).toBe(400);
    expect((await server.api('GET', '/api/apps/quay/requests?since=no')).status).toBe(400);
    const page = await fetch(`${server.url}/metrics`, { headers: scraper });
    expect(await page.text()).toContain(
      'twofold_http_requests_total{app="quay",method="GET",code="5xx"} 1',
    );
    const own = await server.api('GET', '/api/apps/quay/metrics');
    expect(own.body).toContain('twofold_http_bytes_total{app="quay",direction="out"}');
  });
});

describe('the host of a server', () => {
  it('waits for the next server, ten times: no request fails, on kept or new connections', async () => {
    const env = { HOSTING_INGRESS: '' };
    let server = await start(undefined, env);
    const healthy = () =>
      expect.poll(() => server.visit(HOST, '/api/health').then(({ status }) => status)).toBe(200);
    await healthy();
    const to = { port: server.ingress, host: HOST, clients: 4 };
    const kept = startLoad({ ...to, path: (turn) => `/api/health?${turn}` });
    const fresh = startConnections({ ...to, path: '/api/health', end: '}' });
    // What the ingress answers by itself does not wait.
    const elsewhere = startConnections({ ...to, host: 'no.test', status: 404, end: '}' });
    for (let turn = 0; turn < 10; turn += 1) {
      await server.stop();
      server = await start(server.folder, env);
      await healthy();
    }
    for (const load of [kept, fresh, elsewhere]) {
      const { ok, failures } = await load.stop();
      expect([failures, ok > 10]).toEqual([[], true]);
    }
    const record = await createIngressRecords(server.kernel.store).read();
    await server.end();
    process.kill(record!.pid, 'SIGTERM');
  });

  it('has no process of its own with a database in memory, where no later server would find it', async () => {
    const database = ':memory:';
    const env = { HOSTING_INGRESS: '', DATABASE_URL: database };
    const server = await startServer({ socket: '/nowhere/engine.sock', database, env });
    const record = await createIngressRecords(server.kernel.store).read();
    expect(record).toMatchObject({ pid: process.pid, socket: null });
    await server.end();
  });

  it('is left to a proxy in front with ingress.api: false, and is none without APP_URL', async () => {
    const acme = { email: null, directory: null };
    const ingress = {
      http: 0,
      https: 0,
      http2: true,
      accessLog: false,
      api: false,
      ports: '1024-65535',
      acme,
    };
    const server = await startServer({
      ...{
        socket: '/nowhere/engine.sock',
        env: { APP_URL: `https://${HOST}` },
        model: { ingress },
      },
    });
    expect((await server.visit(HOST, '/api/health')).status).toBe(404);
    const put = await server.api('PUT', '/api/system/certificate', selfSigned(HOST));
    expect([put.status, put.body.error]).toEqual([409, expect.stringContaining('APP_URL')]);
    await server.end();
  });
});
