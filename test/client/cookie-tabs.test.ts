import {
  type Browser,
  type BrowserContext,
  chromium as browsers,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Running } from '../../runtime/core/index.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { createFront, type Front } from './front.ts';
import { clientOf, PASSWORD, register, startServer } from './server.ts';

const REQUESTS = 20;
const REFRESH = 'POST /api/auth/refresh';

describeWith('chromium', 'a client whose refresh token is in a cookie, of a page elsewhere', () => {
  let server: Running;
  let api: Front;
  let front: Front;
  let browser: Browser;
  let context: BrowserContext;
  let pages: readonly Page[];

  beforeAll(async () => {
    const paths = { graphql: '/graphql', delivery: 'cookie' } as const;
    api = await createFront(() => server.url, {});
    front = await createFront(() => api.url, {
      '': '',
      ...clientOf({ ending: '.js', server: paths }),
    });
    server = await startServer({
      auth: '{ refresh: { delivery: cookie } }',
      manifest: `server: { cors: ["${front.url}"] }\n`,
    });
    await register(api.url, 'ada@example.com');
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    context = await browser.newContext();
  });
  afterAll(async () => {
    await browser?.close();
    for (const each of [front, api, server]) await each?.close();
  });

  async function openPage(): Promise<Page> {
    const page = await context.newPage();
    await page.goto(front.url, { waitUntil: 'load' });
    await page.evaluate(
      `ended = 0; cut = 0; api = client.createClient({ url: '${api.url}', onSignOut: () => ended++ })`,
    );
    return page;
  }
  // Chromium cuts every connection when an interface of the machine comes or goes, as those of
  // containers do.
  const ask = (page: Page) =>
    page.evaluate(`{
      const one = () => api.request(client.PostsDocument).then(
        (data) => JSON.stringify(data.posts),
        ({ code }) => code === 'NETWORK' ? (cut += 1, one()) : code);
      Promise.all(Array.from({ length: ${REQUESTS} }, one));
    }`);
  const askAll = async () => (await Promise.all(pages.map(ask))).flat() as string[];
  const states = () =>
    Promise.all(pages.map((page) => page.evaluate('[api.session?.email ?? null, ended]')));
  const both = (...state: readonly unknown[]) => [state, state];
  const refreshes = () => api.seen.filter((each) => each === REFRESH).length;

  it('is signed in where the page opens next, refreshes one page at a time, and signs out all', async () => {
    // What an earlier try has left.
    for (const page of context.pages()) await page.close();
    api.seen.length = 0;
    const first = await openPage();
    const login = JSON.stringify({ email: 'ada@example.com', password: PASSWORD });
    await first.evaluate(`api.signIn(${login})`);
    expect(
      await first.evaluate(
        '[api.session.refreshToken, document.cookie, JSON.stringify(localStorage)]',
      ),
    ).toEqual([undefined, '', expect.not.stringContaining('oken')]);

    const second = await openPage();
    pages = [first, second];
    expect(await askAll()).toEqual(Array(2 * REQUESTS).fill('[]'));
    expect(refreshes()).toBe(1);

    // A day later both tokens have expired.
    for (const page of pages) await page.clock.setFixedTime(Date.now() + 86_400_000);
    let [open, most] = [0, 0];
    const isRefresh = (url: string) => url.endsWith('/api/auth/refresh');
    context.on('request', (each) => {
      if (isRefresh(each.url()) && each.method() === 'POST') most = Math.max(most, (open += 1));
    });
    context.on('requestfinished', (each) => {
      if (isRefresh(each.url()) && each.method() === 'POST') open -= 1;
    });
    expect(await askAll()).toEqual(Array(2 * REQUESTS).fill('[]'));
    // By the clock of the pages every token has expired, so each request that was cut costs one more.
    const cuts = await Promise.all(pages.map((page) => page.evaluate<number>('cut')));
    const allowed = 3 + cuts[0]! + cuts[1]!;
    expect([refreshes() >= 3 && refreshes() <= allowed, most]).toEqual([true, 1]);

    api.refuse(503);
    expect(new Set(await askAll())).toEqual(new Set(['UNAVAILABLE']));
    expect(await states()).toEqual(both('ada@example.com', 0));
    api.refuse(401);
    expect(new Set(await askAll())).toEqual(new Set(['UNAUTHENTICATED']));
    await expect.poll(states).toEqual(both(null, 1));
    api.refuse(null);
  });

  it('forgets the cookie with the session', async () => {
    pages = [await openPage(), await openPage()];
    const login = JSON.stringify({ email: 'ada@example.com', password: PASSWORD });
    for (const page of pages) await page.evaluate(`api.signIn(${login})`);
    await pages[0]!.evaluate('api.signOut()');
    await expect.poll(states).toEqual(both(null, 1));
    api.seen.length = 0;
    pages = [await openPage()];
    expect(new Set(await askAll())).toEqual(new Set(['UNAUTHENTICATED']));
    expect(refreshes()).toBe(0);
    const names = (await context.cookies()).map(({ name }) => name);
    expect(names).toEqual(['device']);
  });
});
