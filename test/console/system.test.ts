import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get as request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStream } from './event-stream.ts';
import { MANIFEST, type ConsoleServer, GOOD, OPERATOR, startConsole } from './server.ts';

const COLUMNS = ['id', 'time', 'level', 'message', 'request_id', 'fields'];

describe('the log and the figures of the server itself', () => {
  let server: ConsoleServer;
  let token = '';
  let as: Record<string, string> = {};
  const get = (path: string) => server.call('GET', path, undefined, as);
  const messages = (body: any): string[] => body.lines.map((line: any) => line.message);
  beforeAll(async () => {
    server = await startConsole();
    token = (await server.call('POST', '/api/auth/login', { password: OPERATOR })).body.token;
    as = { Authorization: `Bearer ${token}` };
  });
  afterAll(() => server?.close());

  it('wants system:read', async () => {
    const setup = { token: SETUP, email: 'owner@x.test', password: GOOD };
    await server.call('POST', '/api/auth/setup', setup);
    const member = { email: 'm@x.test', password: GOOD };
    await server.call('POST', '/api/auth/register', member);
    const { body } = await server.call('POST', '/api/auth/login', member);
    const without = { Authorization: `Bearer ${body.accessToken}` };
    for (const path of ['info', 'config', 'settings', 'logs', 'metrics']) {
      const asked = async (headers = {}) =>
        (await server.call('GET', `/api/system/${path}`, undefined, headers)).status;
      expect([path, await asked(), await asked(without), await asked(as)]).toEqual([
        path,
        ...[401, 403, 200],
      ]);
    }
  });

  it('describes the server and its machine, without an engine and apps', async () => {
    const { body } = await get('/api/system/info');
    expect(body).toMatchObject({ name: 'shop', environment: 'development', log_followers: 0 });
    expect(body.node).toBe(process.versions.node);
    expect(Math.abs(Date.parse(body.started_at) - Date.now())).toBeLessThan(60_000);
    expect(body).not.toHaveProperty('engine');
    expect(body).not.toHaveProperty('apps');
    expect((await get('/api/system/config')).body.features).toMatchObject({ hosting: false });
  });

  it('returns lines as they were logged, the newest first, by pages', async () => {
    for (let number = 0; number < 5; number += 1) server.log.info(`line ${number}`);
    const first = (await get('/api/system/logs?q=LINE&limit=2')).body;
    expect(messages(first)).toEqual(['line 4', 'line 3']);
    expect(Object.keys(first.lines[0])).toEqual(COLUMNS);
    expect(first.lines[0]).toMatchObject({ level: 'info', request_id: null, fields: {} });
    const second = (await get(`/api/system/logs?q=line&limit=2&cursor=${first.next_cursor}`)).body;
    expect(messages(second)).toEqual(['line 2', 'line 1']);
    const third = (await get(`/api/system/logs?q=line&limit=2&cursor=${second.next_cursor}`)).body;
    expect([messages(third), third.next_cursor]).toEqual([['line 0'], null]);
  });

  it('chooses lines by level, text and time', async () => {
    server.log.info('quiet');
    server.log.error({ err: new Error('deep "cause"'), password: 'hush' }, 'loud');
    expect(messages((await get('/api/system/logs?level=error')).body)).toEqual(['loud']);
    const { body } = await get(`/api/system/logs?q=${encodeURIComponent('deep "cause"')}`);
    expect(messages(body)).toEqual(['loud']);
    expect(body.lines[0].fields).toMatchObject({ password: '[secret]' });
    expect(messages((await get('/api/system/logs?q=hush')).body)).toEqual([]);
    expect(messages((await get('/api/system/logs?q=level')).body)).toEqual([]);
    expect(messages((await get('/api/system/logs?since=1h&q=quiet')).body)).toEqual(['quiet']);
    expect(messages((await get('/api/system/logs?until=1h&q=quiet')).body)).toEqual([]);
    for (const wrong of ['since=soon', 'level=loud', 'limit=1001'])
      expect((await get(`/api/system/logs?${wrong}`)).status).toBe(400);
  });

  it('follows the log, and counts its readers', async () => {
    const stream = await readStream(`${server.url}/api/system/logs?limit=1`, token);
    await stream.until(() => stream.lines().length === 1);
    for (let number = 0; number < 3000; number += 1) server.log.info(`now ${number}`);
    await stream.until(() => stream.lines().length === 3001);
    expect(
      stream
        .lines()
        .map(({ message }) => message)
        .slice(1),
    ).toEqual(Array.from({ length: 3000 }, (_, number) => `now ${number}`));
    expect((await get('/api/system/info')).body.log_followers).toBe(1);
    const last = stream.events.at(-1)!;
    expect(last.id).toBe(last.data.at(-1).id);
    await stream.close();
    await expect
      .poll(async () => (await get('/api/system/info')).body.log_followers, { timeout: 1000 })
      .toBe(0);
    server.log.info('while away');
    const again = await readStream(`${server.url}/api/system/logs?limit=50`, token, last.id);
    await again.until(() => again.lines().length > 0);
    expect(again.lines().map(({ message }) => message)).toEqual(['while away']);
    await again.close();
  });

  it('sends at most 20 events a second', async () => {
    const stream = await readStream(`${server.url}/api/system/logs?limit=0`, token);
    await stream.until(() => stream.status === 200);
    const before = stream.events.length;
    for (const since = Date.now(); Date.now() - since < 1000; await sleep(2))
      server.log.info('often');
    expect(stream.events.length - before).toBeLessThanOrEqual(21);
    expect(stream.events.length - before).toBeGreaterThan(5);
    await stream.close();
  });

  it('says what was dropped, and that the server is another one', async () => {
    const other = await readStream(`${server.url}/api/system/logs`, token, 'earlier-7');
    await other.until(() => other.lines().length > 100);
    expect(other.events[0]).toMatchObject({ event: 'dropped', data: { lines: null } });
    const [first] = other.lines();
    await other.close();
    const boot = first.id.split('-')[0];
    expect(first.id).toBe(`${boot}-0`);
    for (let number = 0; number < 60_000; number += 1) server.log.info(`many ${number}`);
    const late = await readStream(`${server.url}/api/system/logs`, token, `${boot}-9`);
    await late.until(() => late.lines().length >= 1000);
    const [dropped] = late.events;
    expect(dropped!.event).toBe('dropped');
    const oldest = Number(late.lines()[0].id.split('-')[1]);
    expect(dropped!.data.lines).toBe(oldest - 10);
    await late.close();
  });

  it('tells a reader who is slow how many lines they missed, and loses no other', async () => {
    const path = `${server.url}/api/system/logs?limit=0`;
    const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${token}` };
    const response = await new Promise<IncomingMessage>((resolve) =>
      request(path, { headers }, resolve),
    );
    const last = 45_000;
    for (let number = 1; number <= last; number += 1) {
      server.log.info(`slow ${number}; ${'x'.repeat(600)}`);
      if (number % 1000 === 0) await sleep(1);
    }
    let text = '';
    for await (const piece of response.setEncoding('utf8')) {
      text += piece;
      if (text.includes(`slow ${last};`)) break;
    }
    let [next, missed] = [1, 0];
    for (const [, number, lines] of text.matchAll(/slow (\d+);|^data: \{"lines":(\d+)\}$/gm))
      if (lines !== undefined) [next, missed] = [next + Number(lines), missed + Number(lines)];
      else expect(Number(number)).toBe(next++);
    expect(next).toBe(last + 1);
    expect(missed).toBeGreaterThan(0);
  });

  it('has figures of requests from the first seconds on', async () => {
    for (let number = 0; number < 20; number += 1) await server.call('GET', '/api/health');
    await sleep(250);
    const { body } = await get('/api/system/metrics?range=15m');
    expect(body).toMatchObject({ step_s: 10 });
    expect(body.series.map(({ name }: any) => name)).toEqual([
      ...['requests', 'errors', 'latency_p50', 'latency_p95', 'latency_p99'],
      ...['cpu', 'memory', 'event_loop_lag'],
    ]);
    const last = (name: string) =>
      body.series
        .find((each: any) => each.name === name)
        .points.findLast((p: any) => p[1] !== null);
    expect(last('requests')[1]).toBeGreaterThan(0);
    expect(last('memory')[1]).toBeGreaterThan(10e6);
    expect(last('latency_p50')[1]).toBeGreaterThan(0);
    const points = body.series[0].points;
    expect([points.length, points[0][0], points.at(-1)[0]]).toEqual([90, body.from, body.to]);
    expect(points[0][1]).toBeNull();
    const hour = (await get('/api/system/metrics?range=1h')).body;
    expect([hour.step_s, hour.series[0].points.length]).toEqual([10, 360]);
    expect((await get('/api/system/metrics?range=24h')).body.series[0].points).toHaveLength(1440);
    expect((await get('/api/system/metrics?range=2h')).status).toBe(400);
  });

  it('lists every key of the manifest and every setting that is read, and no secret', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tf-settings-'));
    writeFileSync(join(folder, '.env'), `MAIL_FROM=shop@x.test\nSMTP_URL=smtp://other.test\n`);
    writeFileSync(join(folder, 'manifest.yaml'), MANIFEST);
    const root = pathToFileURL(`${folder}/`);
    const mailing = await startConsole({ root, env: { SMTP_URL: SMTP } });
    const login = await mailing.call('POST', '/api/auth/login', { password: OPERATOR });
    const operator = { Authorization: `Bearer ${login.body.token}` };
    const { body } = await mailing.call('GET', '/api/system/settings', undefined, operator);
    await mailing.close();
    rmSync(folder, { recursive: true });
    const named = (name: string) => body.settings.find((each: any) => each.name === name);
    const plain = { secret: false, set: true };
    expect(named('name')).toEqual({ name: 'name', value: 'shop', source: 'manifest', ...plain });
    expect(named('server.port')).toMatchObject({ value: 8080, source: 'default', set: false });
    expect(named('console.path')).toMatchObject({ value: '/console', source: 'default' });
    expect(named('console.roles')).toMatchObject({ source: 'manifest' });
    expect(named('hosting')).toMatchObject({ value: null, source: 'default' });
    const secret = { value: null, source: 'environment', secret: true, set: true };
    expect(named('JWT_SECRET')).toEqual({ name: 'JWT_SECRET', ...secret });
    expect(named('JWT_SECRET_PREVIOUS')).toMatchObject({ value: null, secret: true, set: false });
    expect(named('MAIL_FROM')).toMatchObject({ value: 'shop@x.test', source: '.env' });
    expect(named('SMTP_URL').source).toBe('environment');
    expect(named('SMTP_URL').value).toBe('smtp://shop:***@mail.test:587?x_token=***&a=b');
    expect(JSON.stringify(body)).not.toMatch(/hunter2|known to nobody|long enough to be one/);
    expect(body.settings.length).toBeGreaterThan(60);
  });
});

describe('what happened, and what there is', () => {
  it('the audit since a time leaves out what was before', async () => {
    let time = Date.parse('2030-01-01T08:00:00Z');
    const own = await startConsole({ now: () => time });
    const as = async () => {
      const { body } = await own.call('POST', '/api/auth/login', { password: OPERATOR });
      return { Authorization: `Bearer ${body.token}` };
    };
    const listed = async (since: string) => {
      const path = `/api/system/audit?action=createAuthorAsAdmin&since=${since}`;
      const { body } = await own.call('GET', path, undefined, await as());
      return body.entries.map(({ at }: { at: string }) => Date.parse(at));
    };
    const times: number[] = [];
    for (const name of ['Ada', 'Grace']) {
      expect((await own.call('POST', '/api/data/authors', { name }, await as())).status).toBe(201);
      times.unshift(time);
      time += 3_600_000;
    }
    const since = ['2030-01-01T07:00:00Z', '2030-01-01T08:30:00Z', '2030-01-01T11:00:00Z'];
    const seen = [await listed(since[0]!), await listed(since[1]!), await listed(since[2]!)];
    await own.close();
    expect(seen).toEqual([times, times.slice(0, 1), []]);
  });

  it('the schema has entities, interfaces, unions and enums with their values', async () => {
    const sdl = `
      interface Named { name: String! }
      type Author implements Named @auth(allow: [PUBLIC]) { id: ID! name: String! @unique }
      type Tag implements Named { id: ID! name: String! state: State }
      union Subject = Author | Tag
      enum State { DRAFT SHOWN }
      type Query { authors: [Author!]! }
    `;
    const own = await startConsole({ sdl, manifest: 'name: shop\nconsole: {}\n' });
    const { body } = await own.call('POST', '/api/auth/login', { password: OPERATOR });
    const as = { Authorization: `Bearer ${body.token}` };
    const { body: schema } = await own.call('GET', '/api/system/schema', undefined, as);
    await own.close();
    const kinds = schema.types.map(({ name, kind }: any) => [name, kind]);
    expect(Object.fromEntries(kinds)).toMatchObject({
      ...{ Author: 'entity', Tag: 'entity' },
      ...{ Named: 'interface', Subject: 'union', State: 'enum' },
    });
    const named = (wanted: string) => schema.types.find(({ name }: any) => name === wanted);
    expect(named('State').values).toEqual(['DRAFT', 'SHOWN']);
    expect(named('Author')).toMatchObject({ table: 'authors', plural: 'authors' });
    expect(named('Author').fields).toContainEqual({
      ...{ name: 'name', type: 'String!', column: 'name' },
      ...{ unique: true, indexed: false, nullable: false },
    });
    expect(schema.sdl).toContain('union Subject = Author | Tag');
  });
});

const SETUP = 'setup-of-the-console-0123456789abcdef';
const SMTP = 'smtp://shop:hunter2@x@mail.test:587?x_token=known to nobody&a=b';
