import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { addUsers, enter, MANIFEST, type Role, watch } from './pages.ts';
import { type ConsoleServer, startConsole } from './server.ts';

const AT = '/ops/panel';

describeWith('chromium', 'the addresses of a console with a path of its own', () => {
  let server: ConsoleServer;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    const manifest = MANIFEST.replace('console:\n', `console:\n  path: ${AT}\n`);
    server = await startConsole({ manifest });
    await addUsers(server);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (path: string, role: Role = 'operator'): Promise<Page> => {
    const context = await browser.newContext();
    await enter(context, server, role);
    const page = await context.newPage();
    await watch(page, server, problems);
    await page.goto(`${server.url}${AT}${path}`);
    return page;
  };
  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  it('lead to every page that the navigation lists, and stay below that path', async () => {
    const page = await open('');
    await heading(page, 'Overview');
    const navigation = page.getByRole('navigation', { name: 'Main' });
    for (const name of await navigation.getByRole('link').allTextContents()) {
      await navigation.getByRole('link', { name, exact: true }).click();
      await heading(page, name);
      expect(new URL(page.url()).pathname).toMatch(/^\/ops\/panel(\/|$)/);
    }
    await page.reload();
    await heading(page, 'Settings');
    expect((await server.call('GET', '/console')).status).toBe(404);
  });

  it('have the heading "Page not found" where there is none, and show the page of a strange parameter', async () => {
    const page = await open('/nowhere');
    const none = ['/logs/x', '/schema/Post', '/data/authors/1', '/users/1/sessions', '/jobs'];
    for (const path of ['/nowhere', ...none]) {
      await page.goto(`${server.url}${AT}${path}`);
      await heading(page, 'Page not found');
      expect([path, await page.title()]).toEqual([path, 'Page not found · shop']);
    }
    await page.goto(`${server.url}${AT}/audit?since=__proto__`);
    await heading(page, 'Audit');
    await page.context().close();
  });

  it('show no page that the server does not list for the caller', async () => {
    const page = await open('/users', 'Support');
    await heading(page, 'Users');
    await page.goto(`${server.url}${AT}/audit`);
    await heading(page, 'Page not found');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('are found by Ctrl+K, those of types that only an administrator reads too', async () => {
    const page = await open('/schema');
    await heading(page, 'Schema');
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    await dialog.getByRole('combobox').fill('user');
    await dialog.getByRole('option', { name: /^User ?Type$/ }).click();
    await page.getByRole('grid', { name: 'User' }).waitFor();
    expect(page.url()).toBe(`${server.url}${AT}/data/users?as=admin`);
  });

  it('begin with the search of a page at the key /', async () => {
    const page = await open('/users');
    await page.getByRole('table', { name: 'Users' }).waitFor();
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Search users');
    await page.keyboard.type('/?');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('/?');
  });

  it.each([
    ['**/api/openapi.json', 'types'],
    ['**/api/authors?**', 'rows'],
  ])('say that they are loading until %s has answered', async (path) => {
    const page = await open('/schema');
    await heading(page, 'Schema');
    const { promise: gate, resolve: answer } = Promise.withResolvers<void>();
    await page.route(path, (route) => gate.then(() => route.continue()));
    await page.goto(`${server.url}${AT}/data/authors`);
    await heading(page, 'Data');
    const grey = page.locator('main .skeleton');
    await grey.waitFor();
    expect(await page.locator('main [aria-busy="true"] .skeleton').count()).toBe(1);
    answer();
    await grey.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('main [aria-busy="true"]').count()).toBe(0);
  });

  it('break no policy, ask no other origin, and fail nowhere', () => expect(problems).toEqual([]));
});
