/**
 * `node test/console/screenshots/make.ts OUT`: pictures of every page of the console, filled, empty, loading and failed, light
 * and dark, in a window of 1280 and of 375 pixels. Needs TEST_CHROMIUM.
 *
 * `--whole` has the pages of hosting, models, jobs and webhooks too, and needs an engine (TEST_DOCKER_SOCKET).
 *
 * `--docs` writes only those that the README and the pages of the documentation show, below `.github/pictures/`: no package
 * ships them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page, type Route } from 'playwright-core';
import { settled } from '../pages.ts';
import { type ConsoleServer, OPERATOR } from '../server.ts';
import { startWhole, type WholeServer } from '../whole-server.ts';
import { keepBusy, startShop } from './shop.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    docs: { type: 'boolean', default: false },
    only: { type: 'string' },
    whole: { type: 'boolean', default: false },
  },
});
const PICTURES = join(import.meta.dirname, '../../../.github/pictures');
const OUT = values.docs ? PICTURES : (positionals[0] ?? 'screenshots');
const WIDTHS = { wide: 1280, narrow: 375 } as const;
const SCHEMES = ['light', 'dark'] as const;
/** Milliseconds in which a page reads what it shows. */
const SETTLED = 1200;

/** What the address of a page has besides its own, so that it shows what it can. */
const DETAILS: Readonly<Record<string, string>> = values.whole
  ? { data: '/posts', apps: '/web', users: '/1' }
  : { data: '/orders?sort=createdAt&order=desc' };

/** Answers of the sign-in and of the frame come in every state. */
const isFrame = (url: string) =>
  /\/api\/(console|auth\/(login|refresh))$/.test(new URL(url).pathname);

const STATES: Readonly<Record<string, ((route: Route) => Promise<void>) | null>> = {
  filled: null,
  empty: null,
  loading: async (route) => void (isFrame(route.request().url()) && (await route.continue())),
  failed: (route) =>
    isFrame(route.request().url())
      ? route.continue()
      : route.fulfill({
          status: 500,
          headers: { 'X-Request-Id': '0b5c2f9e' },
          json: { error: 'Internal server error' },
        }),
};

interface Shot {
  readonly server: ConsoleServer;
  readonly scheme: (typeof SCHEMES)[number];
  readonly width: number;
}

async function open(browser: Browser, { server, scheme, width }: Shot): Promise<Page> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: width > 700 ? 800 : 720 },
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  await page.goto(`${server.url}/console`);
  await page.getByRole('radio', { name: 'Operator' }).check();
  await page.getByLabel('Password').fill(OPERATOR);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account' }).waitFor();
  return page;
}

/** The pages that the server lists, by their ids. */
async function pagesOf(server: ConsoleServer): Promise<{ id: string; path: string }[]> {
  const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
  const as = { Authorization: `Bearer ${body.token}` };
  return (await server.call('GET', '/api/console', undefined, as)).body.pages;
}

async function shoot(page: Page, server: ConsoleServer, name: string, at: string): Promise<void> {
  await page.goto(`${server.url}${at}`);
  await page.waitForTimeout(SETTLED);
  if (values.docs) await settled(page);
  await page.screenshot({ path: join(OUT, `${name}.png`) });
}

async function everyState(browser: Browser, server: ConsoleServer, states: readonly string[]) {
  const pages = (await pagesOf(server)).filter(({ id }) => !values.only || values.only === id);
  for (const scheme of SCHEMES)
    for (const [size, width] of Object.entries(WIDTHS)) {
      const page = await open(browser, { server, scheme, width });
      for (const state of states) {
        const answer = STATES[state];
        if (answer) await page.route('**/api/**', answer);
        for (const { id, path } of pages) {
          const at = `${path}${state === 'empty' ? '' : (DETAILS[id] ?? '')}`;
          await shoot(page, server, `${id.replace('/', '-')}-${state}-${scheme}-${size}`, at);
        }
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      }
      await page.context().close();
    }
}

/** Ends a server, and the engine's containers of one that has them. */
const endOf = (server: ConsoleServer | WholeServer) =>
  'end' in server ? server.end() : server.close();

/** The pictures of the documentation. */
async function forDocs(browser: Browser, server: ConsoleServer): Promise<void> {
  const shown = [
    ['overview', '/console'],
    ['data', '/console/data/orders?sort=createdAt&order=desc'],
    ['schema', '/console/schema'],
  ] as const;
  for (const scheme of SCHEMES) {
    const page = await open(browser, { server, scheme, width: 1280 });
    for (const [name, at] of shown) await shoot(page, server, `${name}-${scheme}`, at);
    await page.context().close();
  }
}

mkdirSync(OUT, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env['TEST_CHROMIUM'] ?? 'chromium',
  args: ['--no-sandbox'],
});
const [filled, empty] = values.whole
  ? [await startWhole(), await startWhole({ filled: false })]
  : [await startShop({ filled: true }), await startShop({ filled: false })];
const leaving = new AbortController();
const busy = values.whole ? Promise.resolve() : keepBusy(filled, leaving.signal);
try {
  // The figures have a point each ten seconds.
  await new Promise((done) => setTimeout(done, values.docs ? 150_000 : 25_000));
  if (values.docs) await forDocs(browser, filled);
  else {
    await everyState(browser, filled, ['filled', 'loading', 'failed']);
    await everyState(browser, empty, ['empty']);
  }
} finally {
  leaving.abort();
  await busy.catch(() => {});
  await browser.close();
  await Promise.all([endOf(filled), endOf(empty)]);
}
