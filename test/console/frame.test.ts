import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  type Browser,
  type BrowserContext,
  chromium as browsers,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { settled } from './pages.ts';
import { type ConsoleServer, GOOD, OPERATOR, SDL, startConsole } from './server.ts';

const OWNER = 'owner@x.test';
/** With a type whose name is a part of that of a page. */
const WITH_LOG = SDL.replace(
  'type Query {',
  'type Log @auth(allow: [PUBLIC]) { id: ID! line: String } type Query { logs: [Log!]! ',
);

describeWith('chromium', 'the frame of the console', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let asHost: Record<string, string>;
  beforeAll(async () => {
    server = await startConsole({ sdl: WITH_LOG });
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    asHost = { Authorization: `Bearer ${body.token}` };
    await server.call('POST', '/api/authors', { name: `Ada 'n' "Bob"` }, asHost);
    const token = 'setup-of-the-console-0123456789abcdef';
    await server.call('POST', '/api/auth/setup', { token, email: OWNER, password: GOOD });
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const contexts: BrowserContext[] = [];
  const open = async (path: string, options = {}): Promise<Page> => {
    const context = await browser.newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${server.url}/console${path}`);
    return page;
  };
  afterAll(() => Promise.all(contexts.map((context) => context.close())));
  const passwordOf = (page: Page) => page.getByLabel('Password');
  const asOperator = async (page: Page) => {
    await page.getByRole('radio', { name: 'Operator' }).check();
    await passwordOf(page).fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  };

  it('goes to a page or a type by Ctrl+K, and lists its keys by ?', async () => {
    const page = await open('/schema');
    await asOperator(page);
    await page.getByRole('table', { name: 'Types' }).waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    await dialog.getByRole('combobox').fill('autho');
    await dialog.getByRole('option', { name: /Author/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('grid', { name: 'Author' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/data/authors`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Schema' }).waitFor();
  });

  it('goes to the name that was typed before longer ones, and to the first type of Data', async () => {
    const page = await open('/data');
    await asOperator(page);
    await page.getByRole('grid', { name: 'Author' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/data/authors`);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Go to' }).getByRole('combobox').fill('log');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${server.url}/console/data/logs`);
  });

  it('tells an event of the log as a sentence, a mail as a mail, and no refresh of its own', async () => {
    const page = await open('/logs');
    await asOperator(page);
    const log = page.getByRole('log', { name: 'Log lines' });
    await log
      .getByText(/^Login succeeded: from 127\.0\.0\.1, host$/)
      .first()
      .waitFor();
    await log.getByText(`Mail to ${OWNER}: Confirm your email address`, { exact: true }).click();
    await page
      .getByRole('region', { name: 'Line' })
      .getByText(/\/auth\/verify-email\?/)
      .first()
      .waitFor();
    await page.reload();
    await log
      .getByText(/^Login succeeded/)
      .first()
      .waitFor();
    expect(await log.innerText()).not.toMatch(/refreshed|event=|mail=/);
  });

  it('keeps theme and density, and finds no page where there is none', async () => {
    const page = await open('/nowhere');
    await asOperator(page);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    expect(await page.title()).toBe('Page not found · shop');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Density', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Theme', exact: true }).click();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    const chosen = 'JSON.stringify(document.documentElement.dataset)';
    expect(await page.evaluate(chosen)).toBe('{"theme":"light","density":"compact"}');
  });

  it('has commands that a shell runs, of this page, with no token and no secret in them', async () => {
    const page = await open('/data/authors');
    await asOperator(page);
    await page.getByRole('grid', { name: 'Author' }).waitFor();
    await page.getByRole('button', { name: 'Show as curl' }).click();
    const shown = page.getByRole('dialog', { name: 'As curl' }).locator('pre');
    const [newest = ''] = (await shown.innerText()).split('\n');
    expect(await shown.innerText()).not.toContain('eyJ');
    const env = { ...process.env, TOKEN: asHost['Authorization']!.slice('Bearer '.length) };
    const { stdout } = await promisify(execFile)('sh', ['-c', `${newest} -s`], { env });
    expect(JSON.parse(stdout).data[0].name).toBe(`Ada 'n' "Bob"`);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Schema' }).click();
    await page.getByRole('table', { name: 'Types' }).waitFor();
    await page.getByRole('button', { name: 'Show as curl' }).click();
    expect(await shown.innerText()).not.toContain('/api/authors');
  });

  it('asks to sign in again over the page when the session is over, and loses nothing typed', async () => {
    const page = await open('/data/authors');
    await page.getByLabel('Email').fill(OWNER);
    await passwordOf(page).fill(GOOD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'New row' }).click();
    await page.getByRole('dialog').getByLabel('name').fill('Typed before');
    const { users } = (await server.call('GET', '/api/auth/admin/users', undefined, asHost)).body;
    const ended = await server.call(
      'DELETE',
      `/api/auth/admin/users/${users[0].id}/sessions`,
      undefined,
      asHost,
    );
    expect(ended.status).toBeLessThan(300);
    await page.getByRole('button', { name: 'Create' }).click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByLabel('Password').fill('wrong');
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.getByRole('alert').getByText('Invalid credentials').waitFor();
    expect(await again.getByLabel('Email').inputValue()).toBe(OWNER);
    await again.getByLabel('Password').fill(GOOD);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('grid', { name: 'Author' }).getByText('Typed before').waitFor();
  });

  it('refreshes once for two tabs', async () => {
    const first = await open('/data/authors');
    await asOperator(first);
    const second = await first.context().newPage();
    await second.goto(`${server.url}/console/data/authors`);
    const tabs = [first, second];
    await Promise.all(tabs.map((tab) => tab.getByRole('grid', { name: 'Author' }).waitFor()));
    let refreshes = 0;
    const refused = new Set<Page>();
    await first.context().route('**/api/authors?**', (route) => {
      const tab = route.request().frame().page();
      if (refused.has(tab)) return route.continue();
      refused.add(tab);
      return route.fulfill({ status: 401, json: { error: 'Invalid or expired token' } });
    });
    await first.context().route('**/api/auth/refresh', async (route) => {
      refreshes += 1;
      await expect.poll(() => refused.size).toBe(2);
      return route.continue();
    });
    const sorted = tabs.map((tab) => tab.getByRole('button', { name: 'name' }));
    await Promise.all(sorted.map((header) => header.click()));
    await Promise.all(tabs.map((tab) => tab.getByRole('columnheader', { name: 'name' }).waitFor()));
    await expect.poll(() => refreshes).toBe(1);
    await Promise.all(tabs.map(settled));
    expect([refused.size, refreshes]).toEqual([2, 1]);
    expect(await second.getByRole('alert').count()).toBe(0);
  });

  it('asks again for files of its own that did not come', async () => {
    const page = await open('/');
    const dropped = new Set<string>();
    await page.route(/assets\/(?!console-).*\.js$/, (route) => {
      const url = route.request().url();
      if (dropped.has(url)) return route.continue();
      dropped.add(url);
      return route.abort('internetdisconnected');
    });
    await page.reload();
    await passwordOf(page).waitFor();
    expect(dropped.size).toBeGreaterThan(4);
  });

  it('says that it reconnects, waits for Retry-After, and goes on by itself', async () => {
    const page = await open('/data/authors');
    await asOperator(page);
    const grid = page.getByRole('grid', { name: 'Author' });
    await grid.waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Schema' }).click();
    const reconnecting = page.getByRole('status').filter({ hasText: 'Reconnecting' });
    await reconnecting.waitFor();
    await page.context().setOffline(false);
    await page.getByRole('table', { name: 'Types' }).waitFor();
    await reconnecting.waitFor({ state: 'detached' });
    let refused = 0;
    await page.route('**/api/authors?**', (route) => {
      refused += 1;
      if (refused > 1) return route.continue();
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: {} });
    });
    await page.getByRole('link', { name: 'Data' }).click();
    await page.getByRole('link', { name: 'Author' }).click();
    await page.getByRole('status').filter({ hasText: 'Too many requests' }).waitFor();
    await grid.getByText('Ada').waitFor();
  });

  it('has the navigation behind Menu on a narrow screen', async () => {
    const page = await open('/schema', { viewport: { width: 320, height: 600 } });
    await asOperatorNarrow(page);
    const link = page.getByRole('link', { name: 'Data', exact: true });
    expect(await link.count()).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Data' }).waitFor();
    expect(await link.count()).toBe(0);
  });

  const asOperatorNarrow = async (page: Page) => {
    await page.getByRole('radio', { name: 'Operator' }).check();
    await passwordOf(page).fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Menu' }).waitFor();
  };
});
