import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientOf } from './server.ts';

const home = mkdtempSync(join(tmpdir(), 'subscriptions-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function load(delivery: 'body' | null = null): Promise<any> {
  const folder = mkdtempSync(join(home, 'out-'));
  for (const [name, text] of Object.entries(
    clientOf({ send: 'text', server: { graphql: '/graphql', delivery } }),
  ))
    writeFileSync(join(folder, name), text);
  return import(/* @vite-ignore */ pathToFileURL(join(folder, 'index.ts')).href);
}

const url = 'http://server.test';
const START = Date.UTC(2026, 0, 1);
const NEXT = 'event: next\ndata: {"data":{"postCreated":{"id":"1","title":"One"}}}\n\n';
const COMPLETE = 'event: complete\ndata: {}\n\n';

/** An answer with these events, whose connection then ends. */
const streamOf = (text: string) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START });
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Seconds since the start of the test. */
const now = () => (Date.now() - START) / 1000;

describe('a subscription whose connection ends', () => {
  /** A client whose first connection ends at once, and that has no other. */
  async function alone() {
    const module = await load();
    const asked: number[] = [];
    const fetch = async () => {
      asked.push(now());
      if (asked.length === 1) return streamOf('');
      throw new TypeError('fetch failed');
    };
    const left = new AbortController();
    const api = module.createClient({ url, fetch });
    const events = api.subscribe(module.AddedDocument, {}, { signal: left.signal });
    const ended = events.next().catch((error: Error) => error.name);
    const end = async () => {
      left.abort();
      expect(await ended).toBe('AbortError');
    };
    return { asked, end };
  }
  const between = (times: readonly number[]) => times.slice(1).map((time, at) => time - times[at]!);

  it('connects again after 1, 2, 4 … 30 s', async () => {
    const { asked, end } = await alone();
    await vi.advanceTimersByTimeAsync(125_000);
    expect(between(asked)).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    await end();
  });

  it('waits for up to half of it less, so that clients do not come all at once', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { asked, end } = await alone();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(between(asked)).toEqual([0.75, 1.5, 3, 6, 12, 22.5]);
    await end();
  });

  it('connects at once when the browser is online again', async () => {
    const page = new EventTarget();
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    const { asked, end } = await alone();
    await vi.advanceTimersByTimeAsync(40_000);
    expect(asked.at(-1)).toBe(31);
    page.dispatchEvent(new Event('online'));
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.at(-1)).toBe(40);
    await end();
  });
});

it('a subscription connects again with a new token, and says so once', async () => {
  const module = await load('body');
  const login = (accessToken: string, left: number) => ({
    id: 1,
    email: 'ada@example.com',
    accessToken,
    exp: START / 1000 + left,
    refreshToken: 'r',
  });
  let text = JSON.stringify({ at: START, session: login('old', 60) });
  const storage = { get: () => text, set: (next: string) => (text = next), remove: () => {} };
  const seen: string[] = [];
  const onReconnect = vi.fn();
  const fetch = async ({ pathname }: URL, { headers }: RequestInit) => {
    seen.push(`${now()} ${pathname} ${new Headers(headers).get('authorization')}`);
    if (pathname === '/api/auth/refresh') return Response.json(login('new', 999));
    return streamOf(seen.length === 1 ? NEXT : NEXT + COMPLETE);
  };
  const api = module.createClient({ url, fetch, storage, onReconnect });
  const events = api.subscribe(module.AddedDocument);
  expect((await events.next()).value).toMatchObject({ postCreated: { title: 'One' } });
  vi.setSystemTime(START + 55_000);
  const second = events.next();
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await second).value).toMatchObject({ postCreated: { title: 'One' } });
  expect(seen).toEqual([
    '0 /graphql Bearer old',
    '56 /api/auth/refresh null',
    '56 /graphql Bearer new',
  ]);
  expect(onReconnect).toHaveBeenCalledTimes(1);
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

it('a subscription ends when the server completes it', async () => {
  const module = await load();
  const fetch = vi.fn(async () => streamOf(NEXT + COMPLETE));
  const events = module.createClient({ url, fetch }).subscribe(module.AddedDocument);
  expect((await events.next()).done).toBe(false);
  expect((await events.next()).done).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fetch).toHaveBeenCalledTimes(1);
});

it('a subscription has no timeout, neither for its connection nor for its events', async () => {
  const module = await load();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const write = (text: string) => void writer.write(new TextEncoder().encode(text));
  const fetch = vi.fn(async (_url: URL, { signal }: RequestInit) => {
    await new Promise((done, failed) => {
      setTimeout(done, 60_000);
      signal!.addEventListener('abort', () => failed(signal!.reason));
    });
    return new Response(readable, { headers: { 'content-type': 'text/event-stream' } });
  });
  const api = module.createClient({ url, fetch, timeout: 20 });
  const events = api.subscribe(module.AddedDocument);
  const first = events.next();
  await vi.advanceTimersByTimeAsync(60_000);
  for (let second = 0; second < 120; second += 20) {
    write(': ping\n\n');
    await vi.advanceTimersByTimeAsync(20_000);
  }
  write(NEXT);
  expect((await first).value).toMatchObject({ postCreated: { title: 'One' } });
  expect(fetch).toHaveBeenCalledTimes(1);
  await events.return(undefined);
});
