import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { GOOD, startServer, type TestServer } from './harness.ts';

describeWith('chromium', '§12 pages by keyboard, in four languages, and back to an app', () => {
  let server: TestServer;
  let browser: Browser;
  let app: Server;
  let origin: string;
  beforeAll(async () => {
    app = createServer((_, response) => void response.end('the app'));
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
    server = await startServer({
      database: 'SQLite',
      auth: {
        oauth: { returnTo: [origin] },
        pages: {
          path: '/auth',
          url: null,
          languages: ['en', 'de', 'fr', 'es'],
          theme: { accent: '#2457d6', logo: null, css: null },
        },
      } as never,
    });
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    app?.close();
  });
  const at = (path: string) => `${server.url}/auth/${path}`;
  const focused = (page: Page) =>
    page.evaluate(`document.activeElement.name || document.activeElement.textContent.trim()`);
  /** Presses Tab until something has the focus, at most `most` times. */
  const tabTo = async (page: Page, name: string, most = 12) => {
    for (let presses = 0; presses < most; presses += 1) {
      await page.keyboard.press('Tab');
      if ((await focused(page)) === name) return;
    }
    throw new Error(`Tab does not reach ${name}`);
  };

  it('a user registers, signs out and signs in with the keyboard alone', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(at('sign-in'));
    await tabTo(page, 'Register');
    await page.keyboard.press('Enter');
    await page.waitForURL(at('register'));
    await tabTo(page, 'email');
    await page.keyboard.type('keys@x.test');
    await tabTo(page, 'password', 1);
    await page.keyboard.type(GOOD);
    await page.keyboard.press('Enter');
    await page.waitForURL(at('account'));
    await tabTo(page, 'Sign out');
    await page.keyboard.press('Space');
    await page.waitForURL(at('sign-in'));
    await tabTo(page, 'email');
    await page.keyboard.type('keys@x.test');
    await tabTo(page, 'password', 1);
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    // The field with the error has the focus.
    await page.waitForSelector('#password-error');
    expect(await focused(page)).toBe('password');
    await page.keyboard.type(GOOD);
    await page.keyboard.press('Enter');
    await page.waitForURL(at('account'));
  });

  it('pasting works, and the browser follows a sign-in to an app on another origin', async () => {
    await server.register('back@x.test');
    const page = await (await browser.newContext()).newPage();
    await page.goto(at(`sign-in?return_to=${encodeURIComponent(`${origin}/in`)}`));
    await page.fill('[name=email]', 'back@x.test');
    await page.focus('[name=password]');
    await page.keyboard.insertText(GOOD);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/in?code=*`, { timeout: 10_000 });
    expect(await page.textContent('body')).toBe('the app');
  });

  it.each([
    ['de-AT', 'de', 'Anmelden'],
    ['fr', 'fr', 'Se connecter'],
    ['es-MX', 'es', 'Iniciar sesión'],
  ])('a reader of %s gets pages in %s', async (locale, language, title) => {
    const context = await browser.newContext({ locale, viewport: { width: 320, height: 800 } });
    const page = await context.newPage();
    for (const path of [
      'sign-in',
      'register',
      'forgot-password',
      'verify-email',
      'second-factor',
    ]) {
      await page.goto(at(path));
      expect(await page.getAttribute('html', 'lang')).toBe(language);
      expect(await page.textContent('main')).not.toMatch(/\{\w+\}|undefined/);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    }
    await page.goto(at('sign-in'));
    expect(await page.textContent('h1')).toBe(title);
    await page.goto(at('register'));
    await page.fill('[name=email]', `${language}@x.test`);
    await page.fill('[name=password]', GOOD);
    await page.click('main button.main');
    await page.waitForURL(at('account'));
    expect(await page.getAttribute('html', 'lang')).toBe(language);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  });
});
