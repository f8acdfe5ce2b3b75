import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { enter, settled } from './pages.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

describeWith('chromium', 'what the server refuses', () => {
  let server: ConsoleServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await startConsole();
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (path: string): Promise<Page> => {
    const context = await browser.newContext();
    await enter(context, server, 'operator');
    const page = await context.newPage();
    await page.goto(`${server.url}/console${path}`);
    await settled(page);
    return page;
  };
  const refuse = (page: Page, path: string, status: number, error: string, headers = {}) =>
    page.route(path, (route) =>
      route.fulfill({ status, headers: { 'X-Request-Id': 'r-7', ...headers }, json: { error } }),
    );
  const alert = (page: Page, text: string) =>
    page.getByRole('alert').getByText(text, { exact: true }).first().waitFor();

  it('does not sign out before the server has ended the session', async () => {
    const page = await open('/schema');
    const signOut = async () => {
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    await refuse(page, '**/api/auth/logout', 500, 'The database is gone');
    await signOut();
    await alert(page, 'You are still signed in: The database is gone (request r-7)');
    await page.unroute('**/api/auth/logout');
    await page.route('**/api/auth/logout', (route) => route.abort());
    await signOut();
    await alert(page, 'You are still signed in: The server does not answer');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Schema' }).waitFor();
    await page.unroute('**/api/auth/logout');
    await signOut();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });

  it('says when to try again where the wait is too long to sit out', async () => {
    const page = await open('/schema');
    const later = { 'Retry-After': '900' };
    await refuse(page, '**/api/posts?**', 429, 'Too many requests', later);
    await page.getByRole('link', { name: 'Data' }).click();
    await page.getByRole('link', { name: 'Post', exact: true }).click();
    await alert(page, 'Too many requests. Try again in 15 min (request r-7)');
  });

  it('says it at sign-in too, with the id of the request, and keeps what was chosen', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${server.url}/console`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    const password = page.getByLabel('Password');
    await password.fill('a guess of nobody');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(/^Invalid password \(request [\w-]+\)$/)
      .waitFor();
    await refuse(page, '**/api/auth/login', 429, 'Too many requests', { 'Retry-After': '90' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await alert(page, 'Too many requests. Try again in 1 min 30 s (request r-7)');
    await page.unroute('**/api/auth/login');
    await password.fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });

  it('has the id of the request when a stream is refused', async () => {
    const page = await open('/schema');
    await refuse(page, '**/api/system/logs?**', 403, 'Forbidden');
    await page.getByRole('link', { name: 'Logs' }).click();
    await alert(page, 'Forbidden (request r-7)');
  });
});
