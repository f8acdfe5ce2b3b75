import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOpenId } from '../auth/openid-provider.ts';
import { codeAt } from '../auth/totp-code.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, GOOD, startConsole } from './server.ts';

const OWNER = 'owner@x.test';
const KEEPER = 'keeper@x.test';
const HELPER = 'helper@x.test';
const PORT = 20_000 + (process.pid % 20_000);
const CALLBACK = `http://127.0.0.1:${PORT}/api/oauth/acme/callback`;

const manifestOf = (issuer: string) => `
name: shop
api: { rest: true, access: public }
auth:
  roles: { list: [Owner, Keeper, Helper, Member], first: Owner, default: Member }
  email_sign_in: code
  second_factor: { mode: optional, roles: [Keeper] }
  oauth: { providers: { acme: { preset: oidc, issuer: "${issuer}" } } }
console: { roles: { Owner: ["*"], Keeper: ["*:read"], Helper: ["data:read"] } }
`;

describeWith('chromium', 'signing in to the console', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let openid: Awaited<ReturnType<typeof startOpenId>>;
  let secret: string;
  let as: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const olga = { email: OWNER, email_verified: true, name: 'Olga' };
    const hans = { email: HELPER, email_verified: true, name: 'Hans' };
    openid = await startOpenId(CALLBACK, { olga, hans });
    server = await startConsole({
      manifest: manifestOf(openid.issuer),
      address: `127.0.0.1:${PORT}`,
      routes: (router) => {
        router.post('/link', async ({ db }) => {
          const at = { created_at: Date.now(), last_login_at: Date.now() };
          const rows = [['olga', 1] as const, ['hans', 3] as const].map(([subject, user_id]) => ({
            ...{ provider: 'acme', subject, user_id, email_verified: 1 },
            ...at,
          }));
          await db.insertInto('auth_identities').values(rows).execute();
          // A sign-in by mail that is the first proof of the address would end the second factor.
          const proved = { email_verified_at: 1, verified_email: KEEPER };
          await db.updateTable('auth_users').set(proved).where('user_id', '=', 2).execute();
        });
      },
      env: {
        ACME_CLIENT_ID: 'shop',
        ACME_CLIENT_SECRET: 'the client secret of the tests',
        ACME_REDIRECT_URL: CALLBACK,
        APP_URL: `http://127.0.0.1:${PORT}`,
      },
    });
    const token = 'setup-of-the-console-0123456789abcdef';
    const made = await server.call('POST', '/api/auth/setup', {
      token,
      email: OWNER,
      password: GOOD,
    });
    as = { Authorization: `Bearer ${made.body.accessToken}` };
    secret = (await server.call('POST', '/api/auth/totp', {}, as)).body.secret;
    const code = codeAt(secret, Date.now(), -1);
    const confirmed = await server.call('POST', '/api/auth/totp/confirm', { code }, as);
    expect(confirmed.status).toBe(200);
    const { roles } = (await server.call('GET', '/api/auth/admin/roles', undefined, as)).body;
    for (const [email, role] of [
      [KEEPER, 'Keeper'],
      [HELPER, 'Helper'],
    ]) {
      const { id } = (await server.call('POST', '/api/auth/register', { email, password: GOOD }))
        .body;
      const role_id = roles.find(({ name }: { name: string }) => name === role).id;
      const path = `/api/auth/admin/users/${id}/role`;
      expect((await server.call('PUT', path, { role_id }, as)).status).toBe(200);
    }
    expect((await server.call('POST', '/link', {})).status).toBeLessThan(300);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await openid?.close();
  });

  const open = async (path: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(`${server.url}/console${path}`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    return page;
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const asUser = async (page: Page, email: string) => {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(GOOD);
    await button(page, 'Sign in').click();
  };
  const answerWithApp = async (page: Page) => {
    await page.getByLabel('Code').fill('000000');
    await button(page, 'Sign in').click();
    await page.getByRole('alert').getByText('Invalid code').waitFor();
    await page.getByLabel('Code').fill(codeAt(secret, Date.now(), (used += 1)));
    await button(page, 'Sign in').click();
  };
  /** A step of the clock counts once; that of now and one to each side are taken. */
  let used = -1;

  it('asks for the code of the app after the password, then shows what was asked for', async () => {
    const page = await open('/data/authors');
    await asUser(page, OWNER);
    await answerWithApp(page);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/data/authors`);
  });

  const atProvider = async (page: Page, login: string) => {
    await page.locator('input[name="login"]').fill(login);
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await page.locator('button[type="submit"]').click();
  };

  it('asks for it after a provider too', async () => {
    const page = await open('/data/authors?sort=name');
    await page.getByRole('link', { name: 'Continue with Acme' }).click();
    await atProvider(page, 'olga');
    await answerWithApp(page);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(page.url()).toBe(`${server.url}/console/data/authors?sort=name`);
  });

  it('has a role that needs a second factor enrol it, and signs in by the code of a mail', async () => {
    const page = await open('/schema');
    await asUser(page, KEEPER);
    const shown = (await page.locator('code.codes').innerText()).trim();
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    await page.getByLabel('Code').fill(codeAt(shown, Date.now(), -1));
    await button(page, 'Confirm').click();
    const codes = (await page.locator('pre.codes').innerText()).trim().split('\n');
    expect(codes).toHaveLength(10);
    await button(page, 'Continue').click();
    await page.getByRole('table', { name: 'Types' }).waitFor();
    const other = await open('/schema');
    await other.getByLabel('Email').fill(KEEPER);
    await button(other, 'Email me a code').click();
    await other.getByLabel('Code').waitFor();
    await other.getByLabel('Code').fill(await mailedTo(KEEPER));
    await button(other, 'Sign in').click();
    await button(other, 'Use a recovery code').click();
    await other.getByLabel('Recovery code').fill(codes[0]!);
    await button(other, 'Sign in').click();
    await other.getByRole('table', { name: 'Types' }).waitFor();
  });

  it('goes on when a session that was over is back by a provider, with all that was typed', async () => {
    const page = await open('/data/authors');
    await asUser(page, HELPER);
    await button(page, 'New row').click();
    await page.getByRole('dialog').getByLabel('name').fill('Typed before');
    expect(
      (await server.call('DELETE', '/api/auth/admin/users/3/sessions', undefined, as)).status,
    ).toBeLessThan(300);
    await button(page, 'Create').click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    const opened = page.context().waitForEvent('page');
    await again.getByRole('link', { name: 'Continue with Acme' }).click();
    const other = await opened;
    await atProvider(other, 'hans');
    await other.getByRole('navigation', { name: 'Main' }).waitFor();
    await again.waitFor({ state: 'detached' });
    await page.getByRole('grid', { name: 'Author' }).getByText('Typed before').waitFor();
  });

  const mailedTo = async (email: string): Promise<string> => {
    let code: string | undefined;
    await expect
      .poll(() => {
        const mails = server.logs.map((line) => JSON.parse(line)).filter(({ mail }) => mail);
        const mine = mails.filter(({ mail }) => mail.to === email).map(({ mail }) => mail.text);
        return (code = mine.flatMap((text) => /\b\d{6}\b/.exec(text)?.[0] ?? []).at(-1));
      })
      .toBeDefined();
    return code!;
  };
});

describeWith('chromium', 'a console that no password opens', () => {
  it('names the command that prints a link', async () => {
    const server = await startConsole({
      sdl: 'type Query { now: String } type Thing { id: ID! }',
      manifest: 'name: shop\nconsole: { host: false }',
      env: { HOST_PASSWORD: '' },
    });
    const browser = await browsers.launch({
      executablePath: chromium ?? '',
      args: ['--no-sandbox'],
    });
    const page = await browser.newPage();
    await page.goto(`${server.url}/console`);
    await page.getByText('npx generator console').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    await browser.close();
    await server.close();
  });
});
