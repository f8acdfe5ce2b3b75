import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makePasskey } from './authenticator.ts';
import { type Browser, openBrowser } from './browser.ts';
import { exchange } from './flow.ts';
import { bearer, describeEachDatabase, GOOD, startServer, type TestServer } from './harness.ts';
import { openForm } from './page-forms.ts';
import { codeAt, memberOf } from './totp-app.ts';

const STEP = 30_000;
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

describeEachDatabase('§12 the account, and a second factor on pages', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      database,
      auth: { oauth: { returnTo: ['https://app.test'] } } as never,
    });
  });
  afterAll(() => server?.close());
  const open = (browser: Browser, path: string) => openForm(browser, `${server.url}/auth/${path}`);
  const account = (browser: Browser) => open(browser, 'account');

  it('renames a session, a device, a key and a passkey, and sets the picture, without a script', async () => {
    const member = await memberOf(server);
    const as = bearer(member.token);
    const post = (path: string, body: object) => server.call('POST', `/api/auth/${path}`, body, as);
    const options = (await post('passkeys/options', {})).body;
    await post('passkeys', { credential: makePasskey(options, { algorithm: 'ES256' }).created });
    await post('api-keys', { name: 'first key', scopes: [] });
    const browser = openBrowser();
    await (await open(browser, 'sign-in')).post({ email: member.email, password: GOOD });
    const code = codeAt(member.secret, server.kernel.now());
    const step = await open(browser, 'second-factor');
    expect((await step.post({ code, remember_device: 'yes' })).location).toBe('/auth/account');
    const { html } = await account(browser);
    for (const kind of ['session', 'device', 'key', 'passkey']) {
      const [, id = ''] = new RegExp(`id="${kind}-rename-([^"]+)"`).exec(html) ?? [];
      expect(id, kind).not.toBe('');
      const page = await account(browser);
      const renamed = await page.post({ do: `${kind}-rename`, id, name: `my <${kind}>` });
      expect([renamed.status, renamed.location]).toEqual([303, '/auth/account']);
      expect((await account(browser)).html).toContain(`my &#60;${kind}&#62;`);
    }
    const [, device = ''] = /id="device-rename-([^"]+)"/.exec(html)!;
    const refused = await (
      await account(browser)
    ).post({
      do: 'device-rename',
      id: device,
      name: '',
    });
    expect(refused.status).toBe(400);
    expect(refused.html).toMatch(/<details class="rename" open>[^]*Please fill in this field/);
    expect(refused.html.match(/Please fill in this field/g)).toHaveLength(1);
    const picture = 'https://pictures.test/ada.png';
    const bad = await (await account(browser)).post({ do: 'profile', avatar_url: 'data:x' });
    expect([bad.status, bad.html]).toEqual([400, expect.stringContaining('avatar_url-error')]);
    await (await account(browser)).post({ do: 'profile', avatar_url: picture });
    expect((await account(browser)).html).toContain(`value="${picture}"`);
    expect((await server.call('GET', '/api/auth/me', undefined, as)).body.avatar_url).toBe(picture);
  });

  it('renames nothing of another user', async () => {
    const browser = openBrowser();
    await (
      await open(browser, 'register')
    ).post({ email: `eve-${database}@x.test`, password: GOOD });
    const { body } = await server.register();
    const made = await server.call(
      'POST',
      '/api/auth/api-keys',
      { name: 'theirs', scopes: [] },
      bearer(body.accessToken),
    );
    const { status } = await (
      await account(browser)
    ).post({
      do: 'key-rename',
      id: String(made.body.id),
      name: 'stolen',
    });
    expect(status).toBe(404);
    expect(JSON.stringify(await server.rows('auth_api_keys'))).not.toContain('stolen');
  });

  it('the code of a sign-in with TOTP is exchanged without a second question, and there is no way around the first', async () => {
    const member = await memberOf(server);
    const browser = openBrowser();
    const to = `sign-in?return_to=${encodeURIComponent('https://app.test/in')}`;
    const begun = await (await open(browser, to)).post({ email: member.email, password: GOOD });
    // The password alone leads to the question: no code, no session of the pages.
    expect(begun.location).toBe('/auth/second-factor');
    expect((await account(browser)).status).toBe(303);
    const wrong = await (await open(browser, 'second-factor')).post({ code: '000000' });
    expect(wrong.location).toBeNull();
    const code = codeAt(member.secret, server.kernel.now());
    const done = await (await open(browser, 'second-factor')).post({ code });
    expect(done.location).toMatch(/^https:\/\/app\.test\/in\?code=/);
    const returned = new URL(done.location!).searchParams.get('code')!;
    const login = await exchange(server, browser, { code: returned });
    expect([login.status, login.body.id]).toEqual([200, member.id]);
    const { body } = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(login.body.accessToken),
    );
    expect(body.sessions.find(({ current }: { current: boolean }) => current).amr).toEqual(
      expect.arrayContaining(['pwd', 'otp']),
    );
    expect((await exchange(server, browser, { code: returned })).status).toBe(400);
  });

  it('with a code_challenge the code of the pages is for the app that has the verifier', async () => {
    const member = await memberOf(server);
    const query = { return_to: 'https://app.test/in', code_challenge: CHALLENGE };
    const browser = openBrowser();
    const at = async (code_verifier?: string) => {
      server.advance(STEP);
      const again = await open(browser, `sign-in?${new URLSearchParams(query)}`);
      await again.post({ email: member.email, password: GOOD });
      const totp = codeAt(member.secret, server.kernel.now());
      const done = await (await open(browser, 'second-factor')).post({ code: totp });
      const code = new URL(done.location!).searchParams.get('code')!;
      return (
        await exchange(server, openBrowser(), { code, ...(code_verifier && { code_verifier }) })
      ).status;
    };
    expect([await at(), await at(VERIFIER)]).toEqual([400, 200]);
  });
});
