import { type Browser, chromium as browsers, type Page, type Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasScope } from '../../runtime/core/context/scopes.ts';
import { PAGES } from '../../runtime/console/page-list.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { CONTRAST, violations } from './axe.ts';
import {
  bearerOf,
  enter,
  type ListedPage,
  NEEDS,
  type Role,
  ROLES,
  settled,
  visit,
  watch,
  withDetails,
} from './pages.ts';
import { documentedWrites, inDocument, replayWrites, writesOf } from './replayed-writes.ts';
import { startWhole, type WholeServer } from './whole-server.ts';

const ALL = Object.keys(ROLES) as Role[];

/** Buttons that change something, by their names in §5; of Data the rules of each type decide. */
const CHANGING =
  /^(New |Create(?!d)|Delete|Disable|Enable|Unlock|Send |End |Rotate|Redeliver|Deploy|Start|Stop|Restart|Roll back|Download|Cancel|Retry|Save|Add |Remove|Revoke|Grant|Change)/;
/** Of one's own browser or of a copy for oneself; nothing of the server changes. */
const OWN = /^(Save$|Download$|Stop generating)/;

/** Answers of REST, and the document that is alike for everybody, are asked for again by their ETag. */
const PRIVATE = /^(no-store|private|no-cache)$/;

/** Pages where the rules of the schema decide, and not a permission. */
const BY_RULES: ReadonlySet<string> = new Set(['data', 'graphql']);

it('lists the pages in the order and with the permissions of the contract', () => {
  const ids = PAGES.map(({ id }) => id);
  expect(ids).toEqual(Object.keys(NEEDS));
  expect(Object.fromEntries(PAGES.map(({ id, needs }) => [id, needs]))).toEqual(NEEDS);
});

describeWith('chromium', 'every page of the console', () => {
  let server: WholeServer;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    server = await startWhole();
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.end();
  });

  const describedFor = async (role: Role) =>
    server.call('GET', '/api/console', undefined, await bearerOf(server, role));
  const contextOf = async (role: Role, options = {}) => {
    const context = await browser.newContext(options);
    await enter(context, server, role);
    return context;
  };
  const pagesOf = async (role: Role): Promise<ListedPage[]> =>
    (await describedFor(role)).body.pages;

  describe.each(ALL)('as %s', (role) => {
    const held: readonly string[] | null = ROLES[role];

    it('is there when the caller may read it, and makes no call that they may not make', async () => {
      const described = await describedFor(role);
      if (held === null) {
        expect(described.status).toBe(role === 'nobody' ? 200 : 403);
        expect(described.body.pages ?? []).toEqual([]);
        return;
      }
      const there = await pagesOf('operator');
      expect(there.map(({ id }) => id)).toEqual([...Object.keys(NEEDS), 'pages/sales']);
      const needed = (id: string) => NEEDS[id] ?? null;
      const mine = there.filter(({ id }) => needed(id) === null || hasScope(held, needed(id)!));
      expect(described.body.pages.map(({ id }: { id: string }) => id)).toEqual(
        mine.map(({ id }) => id),
      );
      const context = await contextOf(role);
      const page = await context.newPage();
      await watch(page, server, problems);
      const asked = new Map<string, number>();
      page.on('response', (each) => {
        const { pathname, search } = new URL(each.url());
        if (!pathname.startsWith('/api/') || pathname === '/api/auth/refresh') return;
        asked.set(`${each.request().method()} ${pathname}${search}`, each.status());
      });
      await page.goto(`${server.url}/console`);
      await settled(page);
      const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
      expect(await links.allTextContents()).toEqual(mine.map(({ title }) => title));
      for (const { id, path, title } of withDetails(described.body.pages)) {
        await visit(page, path);
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
        await settled(page);
        if (role === 'operator') await openTabs(page);
        if (held.includes('*') || BY_RULES.has(id)) continue;
        const buttons = await page.getByRole('main').getByRole('button').allInnerTexts();
        const changing = buttons.filter((name) => CHANGING.test(name) && !OWN.test(name));
        expect([id, changing]).toEqual([id, []]);
      }
      await context.close();
      const refused = [...asked].filter(([, status]) => status === 401 || status === 403);
      expect(refused).toEqual([]);
      await replay(role, asked);
    });
  });

  const openTabs = async (page: Page) => {
    const tabs = page.getByRole('main').getByRole('tab');
    for (let index = 1; index < (await tabs.count()); index += 1) {
      await tabs.nth(index).click();
      await settled(page);
    }
  };

  it('lets each permission through to its routes alone, whoever asks, and fails nowhere', async () => {
    const known = new Set(writesOf(server).map(inDocument));
    expect(new Set(await documentedWrites(server))).toEqual(known);
    expect(known.size).toBeGreaterThan(100);
    expect(await replayWrites(server)).toEqual([]);
  });

  /** Streams never end by themselves. What a browser keeps would be there after signing out. */
  const statusOf = async (path: string, as: Readonly<Record<string, string>>) => {
    const { status, body, headers } = await fetch(server.url + path, { headers: as });
    await body?.cancel();
    const kept = headers.get('Cache-Control');
    if (status < 400) expect([path, kept]).toEqual([path, expect.stringMatching(PRIVATE)]);
    return status;
  };

  /** Calls of the pages by curl: the same for the caller, refused for those who may not enter. */
  const replay = async (role: Role, asked: ReadonlyMap<string, number>) => {
    const [own, member] = [await bearerOf(server, role), await bearerOf(server, 'Member')];
    for (const [request, status] of asked) {
      const [method = '', path = ''] = request.split(' ');
      if (method !== 'GET') continue;
      expect([request, await statusOf(path, own)]).toEqual([request, status]);
      if (!/^\/api\/(system|auth\/admin|apps|models|jobs|data)\b/.test(path)) continue;
      expect([path, await statusOf(path, member)]).toEqual([path, 403]);
      expect([path, await statusOf(path, {})]).toEqual([path, 401]);
    }
  };

  it('breaks no policy, asks no other origin and fails nowhere', () => {
    expect(problems).toEqual([]);
  });

  it('has nothing that axe finds, light and dark, failed too, fits 320 px, and has every text in brackets', async () => {
    const context = await contextOf('operator', { bypassCSP: true, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const found: unknown[] = [];
    for (const { id, path, title } of withDetails(await pagesOf('operator'))) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${server.url}${path}?locale=en-XA`);
      await settled(page);
      const heading = await page.getByRole('heading', { level: 1 }).innerText();
      if (heading.replaceAll(/[⟦⟧]/g, '') !== title) found.push([id, heading]);
      if (NEEDS[id] !== undefined) found.push(...(await bareTexts(page)).map((text) => [id, text]));
      found.push(...(await violations(page)).map((each) => [id, 'light', each]));
      await page.emulateMedia({ colorScheme: 'dark' });
      // Only the colours are others.
      found.push(...(await violations(page, CONTRAST)).map((each) => [id, 'dark', each]));
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 320, height: 640 });
      const width = await page.evaluate('document.documentElement.scrollWidth');
      if (width !== 320) found.push([id, 'wider than 320 px', width]);
      await page.route('**/api/**', failUnlessFrame);
      await page.reload();
      await settled(page);
      found.push(...(await violations(page)).map((each) => [id, 'failed', each]));
      await page.unroute('**/api/**');
    }
    expect(found).toEqual([]);
    await context.close();
  }, 300_000);
});

/** Every call is refused, but for those of the frame around the page. */
const failUnlessFrame = (route: Route) =>
  /\/api\/(console|auth\/refresh)$/.test(new URL(route.request().url()).pathname)
    ? route.continue()
    : route.fulfill({ status: 500, json: { error: 'Internal server error' } });

/** Texts and names outside of the brackets of the pseudo-locale, but for data (`made` is what the server of the test has), times and keys. */
const bareTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const made = /https?:\\S+|owner@x\\.test|llamacpp|\\bweb\\b|^(Post|Author|User)$|the job failed, and it was the last attempt/g;
    const data = 'td, dd, code, pre, samp, kbd, time, option, svg text, svg, .brand, .quiet, .who, .cm-editor, [role=grid] *, [role=log], [data-text], nav[aria-label*=Types] a, tbody th';
    const figure = /\\bp\\d\\d\\b|[\\d.,]+ ?(cores|[kMGT]?B|m?s|min|d|h)\\b/g;
    const bare = (text) => /[a-z]{2}/i.test(text.replaceAll(/⟦[^⟧]*⟧/g, '').replaceAll(made, '').replaceAll(figure, ''));
    const found = [];
    const walker = document.createTreeWalker(document.querySelector('#console'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: parent, data: text } = walker.currentNode;
      if (!parent.closest(data) && !parent.closest('style') && bare(parent.textContent)) found.push(text);
    }
    for (const element of document.querySelectorAll('#console [aria-label], #console [placeholder]'))
      for (const name of ['aria-label', 'placeholder']) {
        const text = element.getAttribute(name) ?? '';
        if (!element.closest(data) && bare(text)) found.push(name + '=' + text);
      }
    return found;
  })()`);
