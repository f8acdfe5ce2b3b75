import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { sampleData } from '../../runtime/auth/mails/samples.ts';
import {
  BETTER,
  describeEachDatabase,
  GOOD,
  markVerified,
  startServer,
  type TestServer,
} from './harness.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ROLES = { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' };
const PAGES = [
  'sign-in',
  'register',
  'forgot-password',
  'reset-password?token=x',
  'consent',
  'verify-email',
  'verify-email?token=x',
  'change-email?token=x',
  'unlock?token=x',
  'restore?token=x',
  'setup?token=x',
  'email-sign-in',
  'second-factor',
];

/** The code of an authenticator app (RFC 6238) for a key in Base32. */
function totp(secret: string, time: number): string {
  const bits = [...secret]
    .map((letter) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    )
    .join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(time / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const at = mac[19]! & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

const start = (more: Parameters<typeof startServer>[0]['auth'] = {}) =>
  startServer({
    database: 'SQLite',
    auth: { roles: ROLES, emailSignIn: 'both', ...more } as never,
  });

describeWith('chromium', '§12 pages in a browser', () => {
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await start();
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const open = async (javaScriptEnabled = false): Promise<Page> =>
    (await browser.newContext({ javaScriptEnabled })).newPage();
  const at = (path: string) => `${server.url}/auth/${path}`;
  const send = (page: Page) => page.click('main form:not([hidden]) button.main');
  const linkIn = async (name: string) => {
    const pattern = new RegExp(`/auth/${name}\\?token=([\\w-]+)`, 'g');
    await expect.poll(() => server.logs.join('')).toMatch(pattern);
    return at(`${name}?token=${[...server.logs.join('').matchAll(pattern)].at(-1)![1]}`);
  };

  it('acceptance 12: Chromium without JavaScript registers, enrols TOTP, signs out, resets', async () => {
    const page = await open();
    await page.goto(at('register'));
    await page.fill('[name=email]', 'ann@x.test');
    await page.fill('[name=password]', 'password');
    await send(page);
    expect(await page.textContent('#password-error')).toContain('too common');
    expect(await page.getAttribute('#password', 'aria-describedby')).toContain('password-error');
    await page.fill('[name=password]', GOOD);
    await send(page);
    expect(page.url()).toBe(at('account'));
    await page.click('#second-factor button');
    const secret = (await page.textContent('main code'))!.replaceAll(' ', '');
    await page.fill('[name=code]', totp(secret, Date.now()));
    await send(page);
    expect(await page.locator('.codes li').count()).toBe(10);
    await page.click('main .links a');
    expect(await page.textContent('#second-factor')).toContain('asks for a code');
    await page.click('header button');
    expect(page.url()).toBe(at('sign-in'));
    await page.goto(at('account'));
    expect(page.url()).toContain('/auth/sign-in');
    await page.goto(at('forgot-password'));
    await page.fill('[name=email]', 'ann@x.test');
    await send(page);
    await page.goto(await linkIn('reset-password'));
    await page.fill('[name=new_password]', BETTER);
    await send(page);
    expect(page.url()).toBe(at('second-factor'));
    server.advance(60_000);
    await page.fill('[name=code]', totp(secret, Date.now() + 60_000));
    await send(page);
    expect(await page.textContent('main')).toContain('Your password was set');
    await page.goto(at('sign-in'));
    await page.fill('[name=email]', 'ann@x.test');
    await page.fill('[name=password]', BETTER);
    await send(page);
    server.advance(60_000);
    await page.fill('[name=code]', totp(secret, Date.now() + 120_000));
    await send(page);
    expect(page.url()).toBe(at('account'));
  });

  it('acceptance 12: axe finds nothing, light and dark, and nothing is wider than 320 px', async () => {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        colorScheme,
        bypassCSP: true,
        viewport: { width: 320, height: 800 },
      });
      const page = await context.newPage();
      const check = async (name: string) => {
        await page.evaluate(axe);
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string }[];
        };
        const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        if (violations.length > 0 || wide)
          found.push(`${colorScheme} ${name}: ${violations.map(({ id }) => id)} ${wide}`);
      };
      for (const path of PAGES) {
        await page.goto(at(path));
        await check(path);
      }
      await page.goto(at('register'));
      await page.fill('[name=email]', `${colorScheme}@x.test`);
      await page.fill('[name=password]', GOOD);
      await send(page);
      await check('account');
      await page.click('#second-factor button');
      await check('totp');
      await context.close();
    }
    expect(found).toEqual([]);
  });

  it('acceptance 12: hostile values in every field do nothing', async () => {
    const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>{{7*7}}`;
    const page = await open(true);
    const outside: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
        outside.push(request.url());
    });
    for (const path of [
      'register',
      'sign-in',
      'forgot-password',
      'email-sign-in',
      'verify-email',
    ]) {
      await page.goto(at(path));
      for (const field of await page
        .locator('main form:not([hidden]) input:not([type=hidden])')
        .all())
        await field.fill(hostile);
      await send(page);
      expect(await page.locator('img[src=x]').count()).toBe(0);
      expect(await page.title()).not.toBe('owned');
    }
    await page.goto(at(`sign-in?return_to=${encodeURIComponent('javascript:alert(1)')}`));
    expect(await page.textContent('main')).toContain('not allowed');
    await page.goto(at('register'));
    await page.fill('[name=email]', 'eve@x.test');
    await page.fill('[name=password]', GOOD);
    await page.fill('[name=first_name]', hostile.slice(0, 60));
    await send(page);
    expect(page.url()).toBe(at('account'));
    expect(await page.inputValue('#first_name')).toBe(hostile.slice(0, 60));
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(outside).toEqual([]);
  });

  it('signs in by mail, in the browser that asked, and comes back to the account', async () => {
    await server.register('mail@x.test');
    const page = await open();
    await page.goto(at('account'));
    await page.click('text=Sign in by mail');
    await page.fill('[name=email]', 'mail@x.test');
    await send(page);
    const link = await linkIn('email-sign-in');
    const other = await open();
    await other.goto(link);
    await send(other);
    expect(await other.textContent('[role=alert]')).toContain('no longer valid');
    await page.goto(link);
    await send(page);
    expect(page.url()).toBe(at('account'));
  });

  it('a change that needs a proof asks for it first', async () => {
    const page = await open();
    await page.goto(at('register'));
    await page.fill('[name=email]', 'late@x.test');
    await page.fill('[name=password]', GOOD);
    await send(page);
    await markVerified(server, (await server.login('late@x.test')).body);
    server.advance(6 * 60_000);
    await page.fill('#new-email', 'later@x.test');
    await page.click('#email button.main');
    expect(await page.textContent('h1')).toBe('Is it you?');
    await page.fill('[name=password]', GOOD);
    await send(page);
    expect(await page.textContent('.notice')).toContain('You can make the change now');
    await page.fill('#new-email', 'later@x.test');
    await page.click('#email button.main');
    expect(await page.textContent('.notice')).toContain('We sent you a mail');
    await page.goto(await linkIn('change-email'));
    await send(page);
    expect((await server.login('later@x.test')).status).toBe(200);
  });
});

describeEachDatabase('§12 pages', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      database,
      auth: { roles: ROLES, oauth: { returnTo: ['https://app.test'] } } as never,
    });
  });
  afterAll(() => server?.close());
  const own = (url: string) => ({ Origin: new URL(url).origin, 'Sec-Fetch-Site': 'same-origin' });

  /** A form as a browser would send it: with the cookie and the token of the page. */
  const visit = async (path: string) => {
    const page = await fetch(`${server.url}${path}`);
    const html = await page.text();
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const post = (values: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { Cookie: cookie, ...own(server.url), ...headers },
        body: new URLSearchParams({ form_token: token, ...values }),
      });
    return { page, html, cookie, post };
  };
  const account = (email: string) => ({ email, password: GOOD });

  it('has a strict policy, keeps nothing, and is at most 30 kB', async () => {
    for (const path of PAGES) {
      const { page, html } = await visit(`/auth/${path}`);
      const style = await (await fetch(`${server.url}/auth/assets/pages.css`)).text();
      const script = await (await fetch(`${server.url}/auth/assets/passkeys.js`)).text();
      expect(gzipSync(html + style + script).length).toBeLessThan(30_000);
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'.*frame-ancestors 'none'$/,
      );
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('cache-control')).toBe('no-store');
      const tokens = [...html.matchAll(/name="form_token" value="([^"]+)"/g)].map(
        ([, each]) => each,
      );
      expect(new Set(tokens).size).toBeLessThanOrEqual(1);
      expect(html).not.toMatch(/<style|style="|<script>| on\w+="/);
      expect(html).not.toMatch(/(src|href)="https?:/);
    }
  });

  it('a post needs the origin and the token of the page', async () => {
    const page = await visit('/auth/register');
    const refused = [
      await page.post(account('a@x.test'), {
        Origin: 'https://evil.test',
        'Sec-Fetch-Site': 'cross-site',
      }),
      await page.post(account('a@x.test'), { 'Sec-Fetch-Site': 'same-site' }),
      await page.post({ ...account('a@x.test'), form_token: 'x' }),
      await page.post(account('a@x.test'), { Cookie: '' }),
      await page.post(account('a@x.test'), { 'Sec-Fetch-Site': '', Origin: 'null' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect((await server.login('a@x.test')).status).toBe(401);
    const answer = await page.post(account('a@x.test'));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/auth/account']);
  });

  it("the pages' cookie signs in to nothing but the pages", async () => {
    const page = await visit('/auth/register');
    const answer = await page.post(account('cookie@x.test'));
    const session = answer.headers
      .getSetCookie()
      .find((line) => line.startsWith('pages_session='))!;
    const token = session.split(';')[0]!.split('=')[1]!;
    expect(session).toMatch(/HttpOnly; SameSite=Lax/);
    const me = (headers: Record<string, string>) =>
      server.call('GET', '/api/auth/me', undefined, headers);
    expect((await me({ Authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await me({ Cookie: `pages_session=${token}` })).status).toBe(401);
    const shown = await fetch(`${server.url}/auth/account`, {
      headers: { Cookie: `pages_session=${token}` },
    });
    expect(await shown.text()).toContain('cookie@x.test');
  });

  it('acceptance 8: a GET of a mail link changes nothing, also twice', async () => {
    await server.register('scan@x.test');
    const link = () =>
      /\/auth\/verify-email\?token=([\w-]+)/.exec(
        server.logs.join('').split('scan@x.test').at(-1)!,
      );
    await expect.poll(link).toBeTruthy();
    const path = link()![0];
    const before = JSON.stringify(await server.rows('auth_one_time_tokens'));
    for (let time = 0; time < 3; time += 1) expect((await visit(path)).page.status).toBe(200);
    expect(JSON.stringify(await server.rows('auth_one_time_tokens'))).toBe(before);
    const page = await visit(path);
    expect(await (await page.post({})).text()).toContain('Enter the password');
    expect((await page.post({ password: GOOD })).status).toBe(200);
    const again = await page.post({});
    expect([again.status, await again.text()]).toEqual([
      400,
      expect.stringContaining('no longer valid'),
    ]);
  });

  it('acceptance 11: every link of every mail opens a page', async () => {
    for (const [kind, data] of Object.entries(sampleData(`${server.url}/auth`))) {
      const { link } = data as { link?: string };
      if (link === undefined) continue;
      const { page, html } = await visit(link.slice(server.url.length));
      const absent = ['sign-in', 'invitation'].includes(kind) ? [404] : [];
      expect([200, ...absent], kind).toContain(page.status);
      expect(html).toContain('<main');
    }
  });

  it('ends at return_to with a code that works once', async () => {
    await server.register('back@x.test');
    const page = await visit('/auth/sign-in?return_to=https://app.test/in');
    const answer = await page.post(account('back@x.test'));
    const location = answer.headers.get('location')!;
    expect(location).toMatch(/^https:\/\/app\.test\/in\?code=/);
    const code = new URL(location).searchParams.get('code')!;
    const cookie = answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const exchange = () => server.call('POST', '/api/oauth/exchange', { code }, { Cookie: cookie });
    expect((await exchange()).body).toMatchObject({ email: 'back@x.test' });
    expect((await exchange()).status).toBe(400);
    const open = await visit('/auth/sign-in?return_to=https://evil.test/');
    expect(open.page.status).toBe(400);
  });

  it('the first administrator is made on the page of setup', async () => {
    const token = /\/auth\/setup\?token=([\w-]+)/.exec(server.logs.join(''))![1];
    const page = await visit(`/auth/setup?token=${token}`);
    const answer = await page.post(account('owner@x.test'));
    expect(answer.status).toBe(303);
    expect((await server.login('owner@x.test')).body.role_name).toBe('Owner');
  });

  it('answers the well-known addresses', async () => {
    const change = await fetch(`${server.url}/.well-known/change-password`, { redirect: 'manual' });
    expect([change.status, change.headers.get('location')]).toEqual([
      303,
      'http://localhost:8080/auth/account#password',
    ]);
    const { body } = await server.call('GET', '/.well-known/passkey-endpoints');
    expect(body).toEqual({
      enroll: expect.stringContaining('/auth/account'),
      manage: expect.any(String),
    });
  });

  it('pages: false answers 404, and links are as before', async () => {
    const bare = await startServer({ database, auth: { pages: false } as never });
    expect((await fetch(`${bare.url}/auth/sign-in`)).status).toBe(404);
    await bare.register('bare@x.test');
    await expect
      .poll(() => bare.logs.join(''))
      .toContain('http://localhost:8080/verify-email?token=');
    await bare.close();
  });
});
