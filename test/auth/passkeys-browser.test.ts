import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Middleware } from 'koa';
import { type Browser, type CDPSession, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { GOOD, startServer, type TestServer, USER } from './harness.ts';

/** The policy of the pages: nothing inline, nothing from elsewhere. */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/** What a page does with the two calls of the browser, as the documentation shows it. */
const SCRIPT = `
const post = async (path, body) => {
  const token = sessionStorage.getItem('token');
  const answer = await fetch('/api/auth/passkeys' + path, { method: 'POST', body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: 'Bearer ' + token }) } });
  return { status: answer.status, body: await answer.json() };
};
window.passkeys = {
  async make(name) {
    const { body } = await post('/options', {});
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(body);
    const credential = await navigator.credentials.create({ publicKey });
    return post('', { credential: credential.toJSON(), name });
  },
  async sign(change) {
    const { body } = await post('/login/options', {});
    return this.answer({ ...body, ...change });
  },
  async answer(options) {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({ publicKey })).toJSON();
  },
  login: (credential) => post('/login', { credential }),
};`;

const servePage: Middleware = async (ctx, next) => {
  if (ctx.path !== '/page' && ctx.path !== '/page.js') return void (await next());
  ctx.set('Content-Security-Policy', POLICY);
  ctx.type = ctx.path === '/page' ? 'html' : 'js';
  ctx.body =
    ctx.path === '/page'
      ? '<!doctype html><title>p</title><script src="/page.js"></script>'
      : SCRIPT;
};

describeWith(
  'chromium',
  'auth-2 acceptance 7: passkeys in Chromium under the CSP of the pages',
  () => {
    let server: TestServer;
    let elsewhere: Server;
    let browser: Browser;
    let page: Page;
    let cdp: CDPSession;
    let authenticatorId: string;
    let member: { id: number; accessToken: string; email: string };
    const problems: string[] = [];
    const call = <T>(expression: string) => page.evaluate(expression) as Promise<T>;
    type Answer = { status: number; body: any };
    const login = (credential: object): Promise<Answer> =>
      server.call('POST', '/api/auth/passkeys/login', { credential });

    beforeAll(async () => {
      const port = await freePort();
      const APP_URL = `http://localhost:${port}`;
      server = await startServer({
        database: 'SQLite',
        entity: USER,
        env: { APP_URL },
        port,
        middleware: [servePage],
      });
      member = (await server.register('ada@x.test')).body;
      elsewhere = createServer((_, response) => {
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>other</title>');
      });
      await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
      browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
      page = await browser.newPage();
      page.on('console', (line) => void (line.type() === 'error' && problems.push(line.text())));
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
      await page.goto(`${APP_URL}/page`);
      await page.evaluate((token) => sessionStorage.setItem('token', token), member.accessToken);
    });
    afterAll(async () => {
      await browser?.close();
      elsewhere?.close();
      await server?.close();
    });

    it('registers, signs in without a name, renames and revokes', async () => {
      const made = await call<Answer>(`passkeys.make('Ada’s laptop')`);
      expect([made.status, made.body.name, made.body.transports]).toEqual([
        201,
        'Ada’s laptop',
        ['internal'],
      ]);
      const again = await call<string>(`passkeys.make('twice').then(() => '', ({ name }) => name)`);
      expect(again).toBe('InvalidStateError');
      await call(`sessionStorage.removeItem('token')`);
      const signedIn = await call<Answer>(`passkeys.sign().then(passkeys.login)`);
      expect([signedIn.status, signedIn.body.id]).toEqual([200, member.id]);
      const as = { Authorization: `Bearer ${signedIn.body.accessToken}` };
      const path = `/api/auth/passkeys/${made.body.id}`;
      const renamed = await server.call('PATCH', path, { name: 'Work' }, as);
      expect([renamed.status, renamed.body.name]).toEqual([200, 'Work']);
      expect((await server.call('DELETE', path, undefined, as)).status).toBe(204);
      const revoked = await call<Answer>(`passkeys.sign().then(passkeys.login)`);
      expect([revoked.status, revoked.body]).toEqual([401, { error: 'Invalid credentials' }]);
      await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
      const { body } = await server.login('ada@x.test', GOOD);
      await page.evaluate((token) => sessionStorage.setItem('token', token), body.accessToken);
    });

    it('not verified, replayed and cloned are 401', async () => {
      expect((await call<Answer>(`passkeys.make('second')`)).status).toBe(201);
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
      const unverified = await call<object>(`passkeys.sign({ userVerification: 'discouraged' })`);
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
      expect((await login(unverified)).status).toBe(401);
      const first = await call<object>(`passkeys.sign()`);
      expect((await login(first)).status).toBe(200);
      expect((await login(first)).status).toBe(401);
      const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
      expect((await login(await call(`passkeys.sign()`))).status).toBe(200);
      // The state before the last use, as an attacker would have it who copied the authenticator.
      await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: credentials[0]! });
      const cloned = await login(await call(`passkeys.sign()`));
      expect([cloned.status, cloned.body]).toEqual([401, { error: 'Invalid credentials' }]);
      expect(await server.events('passkey.cloned')).toHaveLength(1);
    });

    it('wrong origin is 401; nothing broke the policy', async () => {
      const options = (await server.call('POST', '/api/auth/passkeys/login/options')).body;
      expect(problems.filter((text) => !/status of 401/.test(text))).toEqual([]);
      await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
      const publicKey = `PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)})`;
      const credential = await call<object>(
        `navigator.credentials.get({ publicKey: ${publicKey} }).then((made) => made.toJSON())`,
      );
      expect((await login(credential)).status).toBe(401);
    });
  },
);
