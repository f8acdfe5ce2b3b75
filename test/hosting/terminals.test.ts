import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { hosting } from '@twofold/hosting';
import { models } from '@twofold/models';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import {
  type HostingConsole,
  hostingManifest,
  startHostingConsole,
} from '../console/hosting-server.ts';
import { GOOD, startConsole } from '../console/server.ts';

const TERMINALS = '/api/apps/shop/terminals';

describeEachEngine('terminals of apps', ({ socket }) => {
  let server: HostingConsole;
  let image: string;
  let later = 0;
  const api = (method: string, path: string, body?: unknown, as = server.operator) =>
    server.call(method, path, body, as);
  const prepare = async (body: unknown = {}, as = server.operator) =>
    (await api('POST', TERMINALS, body, as)).body as { id: string; ticket: string };

  /** A client that keeps what it got. */
  const connect = (
    { id, ticket }: { id: string; ticket: string },
    headers: Record<string, string> = { Origin: server.url },
    at = server.url,
  ) => {
    const url = `${at.replace('http', 'ws')}${TERMINALS}/${id}`;
    const client = new WebSocket(url, ['twofold.terminal', ticket], { headers });
    const got = { text: '', exit: undefined as number | null | undefined, code: 0, status: 0 };
    client.on('message', (data, isBinary) => {
      if (isBinary) got.text += String(data);
      else got.exit = JSON.parse(String(data)).exit;
    });
    client.on('close', (code) => (got.code = code));
    client.on('unexpected-response', (_, answer) => {
      got.status = answer.statusCode ?? 0;
      client.terminate();
    });
    client.on('error', () => {});
    return { client, got };
  };
  const prompt = (got: { text: string }) =>
    expect.poll(() => got.text, { timeout: 10_000 }).toContain('#');

  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startHostingConsole(socket, { now: () => Date.now() + later });
    expect((await api('POST', '/api/apps', { name: 'shop', image })).status).toBe(201);
  });
  afterAll(() => server?.end());

  it('types, prints, is resized, and says how its command ended', async () => {
    const made = await api('POST', '/api/apps/shop/terminals', { cols: 91, rows: 17 });
    expect(made.status).toBe(201);
    expect(Date.parse(made.body.expires_at) - Date.now()).toBeLessThanOrEqual(30_000);
    const { client, got } = connect(made.body);
    await prompt(got);
    expect(client.protocol).toBe('twofold.terminal');
    client.send(Buffer.from('stty size\n'));
    await expect.poll(() => got.text).toContain('17 91');
    client.send(JSON.stringify({ resize: { cols: 120, rows: 40 } }));
    await sleep(100);
    client.send(Buffer.from('stty size\n'));
    await expect.poll(() => got.text).toContain('40 120');
    client.send(Buffer.from('printf "\\303\\244%s\\n" $TERM; exit 7\n'));
    await expect.poll(() => got.code).toBe(1000);
    expect(got.exit).toBe(7);
    expect(got.text).toContain('äxterm-256color');
    const { body } = await api('GET', '/api/system/audit?target=shop');
    const entries = body.entries.filter(({ detail }: any) => detail.terminal === made.body.id);
    expect(entries.map(({ action }: any) => action)).toEqual(['endTerminal', 'beginTerminal']);
    expect(entries[1]).toMatchObject({ actor: 'host', detail: { command: ['sh'], replica: 0 } });
    expect(JSON.stringify(body.entries)).not.toContain('stty');
  });

  it('takes a ticket once, for its own terminal, from the own origin alone', async () => {
    const refused = async (made: any, headers?: Record<string, string>) => {
      const { got } = connect(made, headers);
      await expect.poll(() => got.status).not.toBe(0);
      return got.status;
    };
    const made = await prepare();
    const foreign = ['http://evil.test', 'null', server.url.replace('127.0.0.1', 'x.localhost')];
    for (const Origin of foreign)
      expect([Origin, await refused(made, { Origin })]).toEqual([Origin, 403]);
    expect(await refused(made, {})).toBe(403);
    const crossSite = { Origin: server.url, 'Sec-Fetch-Site': 'cross-site' };
    expect(await refused(made, crossSite)).toBe(403);
    expect(await refused({ ...made, ticket: 'x'.repeat(43) })).toBe(401);
    const other = await prepare();
    expect(await refused({ id: made.id, ticket: other.ticket })).toBe(401);
    const cookie = {
      Origin: server.url,
      Cookie: `refresh-console=${made.ticket}`,
      ...server.operator,
    };
    expect(await refused({ id: made.id, ticket: 'none' }, cookie)).toBe(401);
    const { client, got } = connect(made);
    await prompt(got);
    expect(await refused(made)).toBe(401);
    client.close();
  });

  it('says how many bytes a volume holds', async () => {
    const volumes = [{ name: 'data', path: '/data' }];
    await api('POST', '/api/apps', { name: 'keeper', image, volumes });
    const command = ['sh', '-c', 'head -c 50000 /dev/zero > /data/zeros'];
    await api('POST', '/api/apps/keeper/exec', { command });
    const { body } = await api('GET', '/api/apps/keeper/volumes');
    expect(body).toMatchObject({ volumes: [{ name: 'data', path: '/data' }], total: 1 });
    expect(body.volumes[0].bytes).toBeGreaterThanOrEqual(50_000);
    expect(body.volumes[0].bytes).toBeLessThan(200_000);
  });

  it('is reached through every process of the installation', async () => {
    const other = await startConsole({
      capabilities: [hosting(), models()],
      manifest: hostingManifest(socket),
      root: pathToFileURL(`${server.folder}/`),
      env: { DATABASE_URL: 'file:data/app.db' },
    });
    const made = await other.call('POST', TERMINALS, {}, server.operator);
    const { client, got } = connect(made.body, { Origin: other.url }, other.url);
    await prompt(got);
    client.send(Buffer.from('echo $((6*7))\n'));
    await expect.poll(() => got.text).toContain('42\r\n');
    await other.close();
    await expect.poll(() => got.code).not.toBe(0);
  });

  it('ends its command with the connection', async () => {
    const { client, got } = connect(await prepare());
    await prompt(got);
    client.send(Buffer.from('trap "" HUP; sleep 4321\n'));
    const running = async () =>
      (await api('POST', '/api/apps/shop/exec', { command: ['ps'] })).body.stdout as string;
    await expect.poll(running).toContain('sleep 4321');
    client.terminate();
    await expect.poll(running, { timeout: 8000 }).not.toContain('sleep 4321');
  });

  it('ends within a second after the session, and after the permission', async () => {
    const root = { 'X-API-Key': 'key-of-the-console-0123456789abcdef' };
    const email = 'support@x.test';
    await server.call('POST', '/api/auth/register', { email, password: GOOD });
    const login = async () => {
      const { body } = await server.call('POST', '/api/auth/login', { email, password: GOOD });
      return { as: { Authorization: `Bearer ${body.accessToken}` }, id: body.id };
    };
    const { id } = await login();
    const { body: known } = await server.call('GET', '/api/auth/admin/roles', undefined, root);
    const give = async (role: string) => {
      const role_id = known.roles.find(({ name }: { name: string }) => name === role).id;
      const path = `/api/auth/admin/users/${id}/role`;
      expect((await server.call('PUT', path, { role_id }, root)).status).toBe(200);
    };
    await give('Support');
    const first = await login();
    const one = connect(await prepare({}, first.as));
    await prompt(one.got);
    await server.call('POST', '/api/auth/logout', {}, first.as);
    await expect.poll(() => one.got.code, { timeout: 1000 }).toBe(4401);
    const second = await login();
    const waiting = await prepare({}, second.as);
    const two = connect(await prepare({}, second.as));
    await prompt(two.got);
    await give('Member');
    await expect.poll(() => two.got.code, { timeout: 1000 }).toBe(4401);
    const late = connect(waiting);
    await expect.poll(() => late.got.code).toBe(4401);
    expect(late.got.text).toBe('');
    expect((await api('POST', TERMINALS, {}, (await login()).as)).status).toBe(403);
  });

  it('ends after 30 minutes without a byte', async () => {
    const { got } = connect(await prepare());
    await prompt(got);
    later += 29 * 60_000;
    await sleep(600);
    expect(got.code).toBe(0);
    later += 2 * 60_000;
    await expect.poll(() => got.code, { timeout: 2000 }).toBe(4408);
  });

  it('says what it cannot do, and ends with the container', async () => {
    expect((await api('POST', TERMINALS, { replica: 3 })).body.error).toBe(
      'replica 3 does not run: the first one is 0',
    );
    expect((await api('POST', TERMINALS, { cols: 0 })).status).toBe(400);
    await api('POST', '/api/apps', { name: 'never' });
    expect((await api('POST', '/api/apps/never/terminals', {})).body.error).toBe(
      'App has not been deployed yet',
    );
    const missing = connect(await prepare({ command: ['no-such-program'] }));
    await expect.poll(() => missing.got.code, { timeout: 10_000 }).toBe(1000);
    expect(missing.got.exit).toBeGreaterThan(0);
    expect(missing.got.text).toContain('no-such-program');
    const made = await Promise.all(Array.from({ length: 12 }, () => api('POST', TERMINALS, {})));
    const statuses = made.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 429]));
    expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(10);
    const { client, got } = connect(made.find(({ status }) => status === 201)!.body);
    await prompt(got);
    await api('POST', '/api/apps/shop/stop');
    await expect.poll(() => got.code, { timeout: 5000 }).toBe(1000);
    expect(got.exit).not.toBe(0);
    expect(client.readyState).toBe(client.CLOSED);
    expect((await api('POST', TERMINALS, {})).body.error).toBe('App is not running');
  });
});
