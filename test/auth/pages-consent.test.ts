import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, openBrowser } from './browser.ts';
import { exchange } from './flow.ts';
import { describeEachDatabase, startServer, type TestServer } from './harness.ts';
import { CLIENT, signInAt, startOpenId } from './openid-provider.ts';
import { openForm } from './page-forms.ts';

const REDIRECT = 'http://127.0.0.1:1/api/oauth/acme/callback';
const NAMES = ['agrees', 'refuses', 'plain', 'again', 'moved', 'races', 'closed', 'app'];
const PEOPLE = {
  ...Object.fromEntries(
    NAMES.map((name) => [name, { email: `${name}@x.test`, email_verified: true, name }]),
  ),
  stranger: { email: 'stranger@x.test', email_verified: false, name: 'Stranger' },
};
const ENV = {
  ACME_CLIENT_ID: CLIENT.id,
  ACME_CLIENT_SECRET: CLIENT.secret,
  ACME_REDIRECT_URL: REDIRECT,
};

describeEachDatabase('§12 consent', (database) => {
  let openid: Awaited<ReturnType<typeof startOpenId>>;
  let server: TestServer;
  const start = (more: object = {}) =>
    startServer({
      database,
      env: ENV,
      auth: {
        oauth: {
          returnTo: ['https://app.test'],
          providers: [{ name: 'acme', preset: 'oidc', options: { issuer: openid.issuer } }],
        },
        ...more,
      } as never,
    });
  beforeAll(async () => {
    openid = await startOpenId(REDIRECT, PEOPLE);
    server = await start();
  });
  afterAll(async () => {
    await server?.close();
    await openid?.close();
  });

  /** A user with a password who has proved the address. */
  const verified = async (name: string, on = server) => {
    const { body } = await on.register(`${name}@x.test`);
    await on.kernel.store.db
      .updateTable('auth_users')
      .set({ email_verified_at: 1, verified_email: `${name}@x.test` })
      .where('user_id', '=', body.id)
      .execute();
    return body.id as string;
  };
  const TO_PAGES = `?return_to=${encodeURIComponent('/auth/sign-in')}`;
  const toConsent = async (name: string, query = TO_PAGES, on = server) => {
    const browser = openBrowser();
    const begin = await browser.visit(`${on.url}/api/oauth/acme${query}`);
    const back = await signInAt(browser, begin.headers.get('location')!, REDIRECT, name);
    const response = await browser.visit(`${on.url}/api/oauth/acme/callback${back.search}`);
    return { browser, response, location: response.headers.get('location') };
  };
  const open = (browser: Browser, path: string) => openForm(browser, `${server.url}${path}`);
  const identities = async (id: string) =>
    (await server.rows('auth_identities')).filter(({ user_id }) => user_id === id);

  it('says on the sign-in page that a flow failed, and in JSON to who does not ask for a page', async () => {
    const callback = `${server.url}/api/oauth/acme/callback?state=wrong&code=x`;
    const page = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const error of ['', '&error=access_denied', '&error=server_error']) {
      const failed = await fetch(`${callback}${error}`, { headers: page, redirect: 'manual' });
      expect([failed.status, failed.headers.get('location')]).toEqual([303, '/auth/sign-in']);
      const [cookie = ''] = failed.headers.getSetCookie().map((each) => each.split(';')[0]);
      const shown = await fetch(`${server.url}/auth/sign-in`, { headers: { ...page, cookie } });
      expect(await shown.text()).toContain('Signing in with the provider did not work.');
    }
    const json = await fetch(callback);
    expect([json.status, await json.json()]).toEqual([400, { error: 'Invalid OAuth state' }]);
  });

  it('asks before a provider joins an account, names both, and joins by its own post', async () => {
    const id = await verified('agrees');
    const { browser, location, response } = await toConsent('agrees');
    expect([response.status, location]).toEqual([303, '/auth/consent']);
    for (let time = 0; time < 2; time += 1) {
      const { html } = await open(browser, '/auth/consent');
      expect(html).toContain('Link Acme?');
      expect(html).toContain('agrees@x.test');
    }
    expect(await identities(id)).toEqual([]);
    const page = await open(browser, '/auth/consent');
    const forged = await page.post({ form_token: 'x' });
    expect([forged.status, await identities(id)]).toEqual([403, []]);
    const agreed = await page.post();
    expect([agreed.status, agreed.location]).toEqual([
      303,
      expect.stringMatching(/^\/auth\/sign-in\?code=/),
    ]);
    expect(await identities(id)).toHaveLength(1);
    const code = new URL(agreed.location!, server.url).searchParams.get('code')!;
    const signedIn = await (await open(browser, agreed.location!)).post({ code });
    expect(signedIn).toMatchObject({ status: 303, location: '/auth/account' });
    expect((await open(browser, '/auth/account')).html).toContain('agrees@x.test');
    const [event] = (await server.events('oauth.linked')).filter(({ user_id }) => user_id === id);
    expect(event).toMatchObject({ data: { provider: 'acme', automatic: false } });
    expect((await toConsent('agrees')).location).toMatch(/^\/auth\/sign-in\?code=/);
  });

  it('a refusal joins nothing, and ends the question', async () => {
    const id = await verified('refuses');
    const { browser } = await toConsent('refuses');
    const page = await open(browser, '/auth/consent');
    const refused = await page.post({ do: 'refuse' });
    expect(refused).toMatchObject({ status: 303, location: '/auth/sign-in' });
    expect((await open(browser, '/auth/sign-in')).html).toContain('Nothing was linked.');
    expect((await page.post()).status).toBe(400);
    expect((await open(browser, '/auth/consent')).status).toBe(400);
    expect(await identities(id)).toEqual([]);
  });

  it('a flow of an app stops at the page too, and ends at the app with its code', async () => {
    const id = await verified('app');
    const query = `?return_to=${encodeURIComponent('https://app.test/in')}`;
    const { browser, location } = await toConsent('app', query);
    expect([location, await identities(id)]).toEqual(['/auth/consent', []]);
    const agreed = await (await open(browser, '/auth/consent')).post();
    expect(agreed.location).toMatch(/^https:\/\/app\.test\/in\?code=/);
    const code = new URL(agreed.location!).searchParams.get('code')!;
    expect((await exchange(server, openBrowser(), { code })).status).toBe(400);
    const again = await toConsent('app', query);
    const second = new URL(again.location!).searchParams.get('code')!;
    expect((await exchange(server, again.browser, { code: second })).body).toMatchObject({ id });
  });

  it('only the browser of the flow is asked, once, for ten minutes', async () => {
    const id = await verified('again');
    const { browser } = await toConsent('again');
    expect((await open(openBrowser(), '/auth/consent')).status).toBe(400);
    const page = await open(browser, '/auth/consent');
    server.advance(11 * 60_000);
    expect([(await page.post()).status, await identities(id)]).toEqual([400, []]);
    const race = await verified('races');
    const other = await toConsent('races');
    const racing = await open(other.browser, '/auth/consent');
    const statuses = await Promise.all([racing.post(), racing.post({ do: 'refuse' })]);
    expect(statuses.map(({ status }) => status).sort()).toEqual([303, 400]);
    expect((await identities(race)).length).toBeLessThanOrEqual(1);
  });

  /** What happens to the account while the page waits for its answer. */
  const answeredAfter = async (name: string, set: object) => {
    const id = await verified(name);
    const { browser } = await toConsent(name);
    const page = await open(browser, '/auth/consent');
    const { db } = server.kernel.store;
    await db.updateTable('auth_users').set(set).where('user_id', '=', id).execute();
    const { status } = await page.post();
    const { password } = await db
      .selectFrom('auth_users')
      .select('password')
      .where('user_id', '=', id)
      .executeTakeFirstOrThrow();
    return { status, joined: (await identities(id)).length, password };
  };

  it('joins nothing once the account is closed', async () => {
    expect(await answeredAfter('closed', { disabled_at: 1 })).toMatchObject({
      status: 400,
      joined: 0,
    });
  });

  it('is the first proof of an address that is not proved any more: the password ends', async () => {
    expect(await answeredAfter('moved', { verified_email: null })).toEqual({
      status: 303,
      joined: 1,
      password: null,
    });
  });

  it('a client without pages is linked as before, and an unproved address never', async () => {
    const id = await verified('plain');
    expect((await toConsent('plain', '')).response.status).toBe(200);
    expect(await identities(id)).toHaveLength(1);
    const stranger = await verified('stranger');
    const { response } = await toConsent('stranger');
    expect([response.status, await identities(stranger)]).toEqual([409, []]);
    const bare = await start({ pages: false });
    await verified('agrees', bare);
    expect((await toConsent('agrees', '?return_to=/in', bare)).location).toMatch(/^\/in\?code=/);
    await bare.close();
  });
});
