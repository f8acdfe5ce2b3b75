import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { type ConsoleServer, GOOD, startConsole } from './server.ts';

const OWNER = 'owner@x.test';
const NEXT = 'another horse battery staple';
const SETUP = 'setup-of-the-console-0123456789abcdef';

/** Makes a passkey of the caller, as a page of the project's own would. It runs in the browser. */
const MAKE = `async (token) => {
  const send = async (path, body) => (await fetch('/api/auth/passkeys' + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token },
  })).json();
  const options = await send('/options', {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await navigator.credentials.create({ publicKey });
  return send('', { name: 'Laptop', credential: credential.toJSON() });
}`;

const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  automaticPresenceSimulation: true,
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
} as const;

describeWith(
  'chromium',
  'signing in to the console with a passkey, or with a password that has to change',
  () => {
    let server: ConsoleServer;
    let browser: Browser;
    let page: Page;
    let url: string;
    const problems: string[] = [];
    beforeAll(async () => {
      // A passkey is for a host name, never for an IP address.
      const port = await freePort();
      url = `http://localhost:${port}`;
      server = await startConsole({ address: `127.0.0.1:${port}`, env: { APP_URL: url } });
      await server.call('POST', '/api/auth/setup', { token: SETUP, email: OWNER, password: GOOD });
      browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
      page = await browser.newPage();
      page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('WebAuthn.enable');
      await devtools.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
    });
    afterAll(async () => {
      await browser?.close();
      await server?.close();
    });
    const login = async (password: string) =>
      (await server.call('POST', '/api/auth/login', { email: OWNER, password })).body;
    const signOut = async () => {
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    };

    it('takes the passkey of the browser, without a name or a password', async () => {
      await page.goto(`${url}/console/users`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const { accessToken } = await login(GOOD);
      const made = (await page.evaluate(`(${MAKE})('${accessToken}')`)) as { name: string };
      expect(made.name).toBe('Laptop');
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
      await signOut();
    });

    it('asks for a new password when the old one has to change, and goes on to the page that was asked for', async () => {
      const { db } = server.kernel.store;
      await db.updateTable('auth_users').set({ password_change_required_at: 1 }).execute();
      await page.goto(`${url}/console/audit`);
      await page.getByLabel('Email').fill(OWNER);
      await page.getByLabel('Password').fill(GOOD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const next = page.getByLabel('New password');
      await next.fill('short');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByRole('alert').first().waitFor();
      await next.fill(NEXT);
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
      const session = await login(NEXT);
      expect(session.accessToken).toBeTruthy();
      const as = { Authorization: `Bearer ${session.accessToken}` };
      const { sessions } = (await server.call('GET', '/api/auth/sessions', undefined, as)).body;
      expect(sessions.map(({ client }: { client: string | null }) => client)).toContain('console');
      expect(problems.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    });
  },
);
