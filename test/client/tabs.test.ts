import {
  type Browser,
  chromium as browsers,
  type BrowserContext,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Running } from '../../runtime/core/index.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { createFront, type Front } from './front.ts';
import { clientOf, PASSWORD, register, startServer } from './server.ts';

/** Requests of each page at once. */
const REQUESTS = 20;

describeWith('chromium', 'the client in two pages of one browser', () => {
  let server: Running;
  let front: Front;
  let browser: Browser;
  let context: BrowserContext;
  let pages: readonly Page[];

  beforeAll(async () => {
    server = await startServer();
    front = await createFront(() => server.url, { '': '', ...clientOf({ ending: '.js' }) });
    await register(front.url, 'ada@example.com');
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterEach(async () => {
    front.refuse(null);
    await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await front?.close();
    await server?.close();
  });

  /** Two pages with one session, whose token is changed before their clients are made. */
  async function open(change: Record<string, unknown>): Promise<void> {
    context = await browser.newContext();
    const first = await context.newPage();
    await first.goto(front.url, { waitUntil: 'load' });
    await first.evaluate(signIn, { password: PASSWORD, change });
    pages = [first, await context.newPage()];
    await pages[1]!.goto(front.url);
    await Promise.all(pages.map((page) => page.evaluate(prepare)));
    front.seen.length = 0;
  }
  const refreshes = () => front.seen.filter((each) => each === 'POST /api/auth/refresh').length;
  const ask = () => Promise.all(pages.map((page) => page.evaluate(askMany, REQUESTS)));

  it.each([
    ['that it knows to be expired', { exp: 1 }],
    ['that the server refuses', { accessToken: 'a.b.c' }],
  ])('with a token %s: one refresh, and every request is answered', async (_, change) => {
    await open(change);
    const answers = (await ask()).flat();
    expect(answers).toEqual(Array(2 * REQUESTS).fill('[]'));
    expect(refreshes()).toBe(1);
  });

  it('keeps the session when the refresh answers 503', async () => {
    await open({ exp: 1 });
    front.refuse(503);
    expect(new Set((await ask()).flat())).toEqual(new Set(['UNAVAILABLE']));
    expect(await states()).toEqual([
      { email: 'ada@example.com', ended: 0 },
      { email: 'ada@example.com', ended: 0 },
    ]);
    front.refuse(null);
    expect(new Set((await ask()).flat())).toEqual(new Set(['[]']));
  });

  it('is signed out in both, once in each, when the refresh answers 401', async () => {
    await open({ exp: 1 });
    front.refuse(401);
    expect(new Set((await ask()).flat())).toEqual(new Set(['UNAUTHENTICATED']));
    await expect.poll(states).toEqual([
      { email: null, ended: 1 },
      { email: null, ended: 1 },
    ]);
    expect(refreshes()).toBe(1);
  });

  it('is signed out in both by one, also when the server is away', async () => {
    await open({});
    await context.route('**/api/auth/logout', (route) => route.abort());
    await pages[0]!.evaluate('api.signOut()');
    await expect.poll(states).toEqual([
      { email: null, ended: 1 },
      { email: null, ended: 1 },
    ]);
  });

  const states = () =>
    Promise.all(
      pages.map((page) =>
        page.evaluate('({ email: api.session?.email ?? null, ended: window.ended })'),
      ),
    );
});

/* These functions run in a page, and are compiled without the types of one. */

declare const window: any;
declare const location: { readonly origin: string };
declare const localStorage: {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
};

async function signIn({ password, change }: { password: string; change: Record<string, unknown> }) {
  const api = window.client.createClient({ url: location.origin });
  await api.signIn({ email: 'ada@example.com', password });
  const key = `session ${location.origin}`;
  const kept = JSON.parse(localStorage.getItem(key)!);
  kept.session = { ...kept.session, ...change };
  localStorage.setItem(key, JSON.stringify(kept));
}

function prepare(): void {
  const page = window;
  const { createClient, PostsDocument } = page.client;
  page.ended = 0;
  page.posts = PostsDocument;
  page.api = createClient({ url: location.origin, onSignOut: () => (page.ended += 1) });
}

function askMany(count: number): Promise<string[]> {
  const { api, posts } = window;
  // Chromium cuts every connection when an interface of the machine comes or goes, as those of
  // containers do.
  const ask = (): Promise<string> =>
    api.request(posts, { limit: 5 }).then(
      (data: any) => JSON.stringify(data.posts),
      (error: any) => (error.code === 'NETWORK' ? ask() : (error.code ?? String(error))),
    );
  return Promise.all(Array.from({ length: count }, ask));
}
