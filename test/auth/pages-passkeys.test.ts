import { type Browser, type CDPSession, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { GOOD, startServer, type TestServer } from './harness.ts';

describeWith('chromium', "§6 passkeys on the pages, under the pages' own policy", () => {
  let server: TestServer;
  let browser: Browser;
  let page: Page;
  let cdp: CDPSession;
  let authenticatorId: string;
  let at: (path: string) => string;
  const problems: string[] = [];
  beforeAll(async () => {
    const port = await freePort();
    const APP_URL = `http://localhost:${port}`;
    at = (path) => `${APP_URL}/auth/${path}`;
    server = await startServer({ database: 'SQLite', env: { APP_URL }, port });
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => void problems.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused/.test(message.text())) problems.push(message.text());
    });
    cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    ({ authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('acceptance 7: a passkey is added, signs in without a name from the menu of the field, is renamed and removed', async () => {
    await page.goto(at('register'));
    await page.fill('[name=email]', 'key@x.test');
    await page.fill('[name=password]', GOOD);
    await page.click('main button.main');
    await page.click('#passkeys form[data-passkey] button');
    await page.locator('.notice').waitFor();
    expect(await page.locator('#passkeys .list li').count()).toBe(1);
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
    expect(credentials).toHaveLength(1);
    await page.click('header button');
    // Conditional UI: the authenticator answers as soon as the page offers passkeys.
    await page.waitForURL(at('account'));
    await page.click('#passkeys .list summary');
    await page.fill('#passkeys .list [name=name]', 'My laptop');
    await page.click('#passkeys .list details button');
    await page.locator('.notice').waitFor();
    expect(await page.textContent('#passkeys .list li')).toContain('My laptop');
    await page.click('#passkeys .list button.danger');
    await page.locator('.notice').waitFor();
    expect(await page.locator('#passkeys .list li').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
