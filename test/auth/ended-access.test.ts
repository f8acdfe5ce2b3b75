import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn, startWithProvider } from './flow.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  markVerified,
  type TestServer,
} from './harness.ts';
import type { HostileProvider } from './hostile-provider.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

describeEachDatabase(
  '§2.7 and §2.8, auth-2 acceptance 4: what ends with a password',
  (database) => {
    let mailbox: Mailbox;
    let server: TestServer;
    let provider: HostileProvider;
    let close: () => Promise<void>;
    beforeAll(async () => {
      mailbox = await startMailbox();
      ({ server, provider, close } = await startWithProvider({
        database,
        env: { SMTP_URL: mailbox.url },
      }));
    });
    afterAll(async () => {
      await close();
      await mailbox.close();
    });

    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      server.call('POST', `/api/auth${path}`, body, headers);
    const me = async (headers: Record<string, string>) =>
      (await server.call('GET', '/api/auth/me', undefined, headers)).status;
    /** Links a second identity to an account, as its owner or as somebody who has their session would. */
    const addIdentity = (
      userId: number,
      subject: string,
      email: string | null,
      verified: boolean,
    ) =>
      server.kernel.store.db
        .insertInto('auth_identities')
        .values({
          provider: 'other',
          subject,
          user_id: userId,
          email,
          email_verified: verified ? 1 : 0,
          created_at: 1,
          last_login_at: 1,
        })
        .execute();
    const addPasskey = (userId: number, name: string) =>
      server.kernel.store.db
        .insertInto('auth_passkeys')
        .values({
          id: name,
          user_id: userId,
          name,
          public_key: '',
          counter: 0,
          backed_up: 0,
          transports: '[]',
          created_at: 1,
          last_used_at: null,
        })
        .execute();
    const passkeysOf = async (userId: number) =>
      (await server.rows('auth_passkeys')).filter(({ user_id }) => user_id === userId).length;
    const devicesOf = async (userId: number) =>
      (await server.rows('auth_remembered_devices')).filter(({ user_id }) => user_id === userId)
        .length;
    const subjectsOf = async (userId: number) =>
      (await server.rows('auth_identities'))
        .filter(({ user_id }) => user_id === userId)
        .map(({ subject }) => subject as string)
        .sort();
    /** An account that somebody else has been in: another session, two keys, four identities, mail tokens. */
    const intruded = async (email: string) => {
      const { body } = await server.register(email);
      const intruder = (await server.login(email)).body;
      const own = await post(
        '/api-keys',
        { name: 'theirs', scopes: [] },
        bearer(intruder.accessToken),
      );
      const made = { name: 'from above', scopes: [], user_id: body.id };
      const above = await post('/admin/api-keys', made, asRoot);
      await addIdentity(body.id, `${email} own`, email.toUpperCase(), true);
      await addIdentity(body.id, `${email} foreign`, 'eve@evil.test', true);
      await addIdentity(body.id, `${email} claimed`, email, false);
      await addIdentity(body.id, `${email} none`, null, false);
      await addPasskey(body.id, `${email} phone`);
      await server.kernel.store.db
        .insertInto('auth_remembered_devices')
        .values({
          id: `dev ${email}`,
          user_id: body.id,
          hash: `hash ${email}`,
          name: 'a browser',
          ip: '192.0.2.1',
          created_at: 1,
          last_used_at: 1,
          expires_at: Date.now() + 1_000_000,
        })
        .execute();
      await markVerified(server, body);
      await post('/change-email', { email: `new-${email}` }, bearer(intruder.accessToken));
      const { token: change } = await mailbox.find(`new-${email}`, 'change-email?token=');
      return {
        id: body.id as number,
        owner: body,
        intruder,
        change,
        keys: [own, above].map(({ body: key }) => ({ 'X-API-Key': key.key as string })),
      };
    };
    const resetOf = async (email: string) => {
      await post('/forgot-password', { email });
      const { token } = await mailbox.find(email, 'reset-password?token=');
      return post('/reset-password', { token, new_password: BETTER });
    };

    it('a reset leaves an intruder no session, key, device, identity, passkey or link; the mail and the event list what ended', async () => {
      const { id, owner, intruder, keys, change } = await intruded('reset@x.test');
      expect([await me(keys[0]!), await me(keys[1]!)]).toEqual([200, 200]);
      expect((await resetOf('reset@x.test')).status).toBe(200);
      expect(await Promise.all(keys.map(me))).toEqual([401, 401]);
      for (const { accessToken, refreshToken } of [owner, intruder]) {
        expect(await me(bearer(accessToken))).toBe(401);
        expect((await post('/refresh', { refreshToken })).status).toBe(401);
      }
      expect((await post('/verify-email', { token: change })).status).toBe(400);
      expect(await subjectsOf(id)).toEqual(['reset@x.test own']);
      const { text } = await mailbox.find('reset@x.test', 'was reset');
      expect(text).toContain('sessions: 2');
      expect(text).toContain('API keys: theirs, from above');
      expect(text).toContain('sign-in through: other, other, other');
      expect(text).toContain('passkeys: reset@x.test phone');
      expect(text).toContain('devices: 1');
      expect([await passkeysOf(id), await devicesOf(id)]).toEqual([0, 0]);
      expect((await server.events('password.reset')).at(-1)!['data']).toEqual({
        sessions_ended: 2,
        devices_ended: 1,
        api_keys_ended: ['theirs', 'from above'],
        identities_ended: ['other', 'other', 'other'],
        passkeys_ended: ['reset@x.test phone'],
      });
      const revoked = (await server.events('api_key.revoked')).filter(
        ({ user_id }) => user_id === id,
      );
      expect(revoked.map(({ data }) => [data.name, data.reason]).sort()).toEqual([
        ['from above', 'password reset'],
        ['theirs', 'password reset'],
      ]);
      expect(
        (await server.events('oauth.unlinked')).filter(({ user_id }) => user_id === id),
      ).toHaveLength(3);
      expect(
        (await server.rows('auth_permission_changes')).filter(
          ({ action, actor_id }) => action === 'api_key.revoked' && actor_id === String(id),
        ),
      ).toHaveLength(2);
      expect(mailbox.received.filter(({ text: mail }) => mail.includes('was revoked'))).toEqual([]);
    });

    it('a change ends the same in other sessions; keep leaves keys or identities as they are', async () => {
      const change = async (email: string, keep?: readonly string[]) => {
        const { id, owner, intruder, keys } = await intruded(email);
        const body = { current_password: GOOD, new_password: BETTER, ...(keep && { keep }) };
        const answer = await post('/change-password', body, bearer(owner.accessToken));
        expect(answer.status).toBe(200);
        expect([
          await me(bearer(owner.accessToken)),
          await me(bearer(intruder.accessToken)),
        ]).toEqual([200, 401]);
        return {
          keys: await Promise.all(keys.map(me)),
          identities: (await subjectsOf(id)).length,
          others: [await passkeysOf(id), await devicesOf(id)],
          text: (await mailbox.find(email, 'was changed')).text,
        };
      };
      const all = await change('change@x.test');
      // A change leaves passkeys, and forgets devices.
      expect(all).toMatchObject({ keys: [401, 401], identities: 1, others: [1, 0] });
      expect(all.text).toContain('API keys: theirs, from above');
      expect(await change('keys@x.test', ['api_keys'])).toMatchObject({
        keys: [200, 200],
        identities: 1,
      });
      const both = await change('both@x.test', ['api_keys', 'identities']);
      expect(both).toMatchObject({ keys: [200, 200], identities: 4 });
      expect(both.text).not.toContain('API keys');
      const { body } = await server.register('unknown@x.test');
      const wrong = { current_password: GOOD, new_password: BETTER, keep: ['sessions'] };
      expect((await post('/change-password', wrong, bearer(body.accessToken))).status).toBe(400);
      expect(await me(bearer(body.accessToken))).toBe(200);
    });

    it('a link to a provider that was begun before a reset ends with it', async () => {
      const { body } = await server.register('begun@x.test');
      const flow = await startLink(server, provider, body.accessToken);
      await resetOf('begun@x.test');
      expect((await flow()).status).toBe(400);
      expect(await subjectsOf(body.id)).toEqual([]);
    });

    it('the owner lists, names and revokes keys, lists and ends identities, and is mailed of each', async () => {
      const { body } = await server.register('own@x.test');
      const headers = bearer(body.accessToken);
      const made = await post(
        '/api-keys',
        { name: 'nightly', scopes: [], expires_in: '30d' },
        headers,
      );
      await mailbox.find('own@x.test', 'was made: nightly');
      const list = async () =>
        (await server.call('GET', '/api/auth/api-keys', undefined, headers)).body;
      expect(await list()).toEqual({
        api_keys: [
          {
            id: made.body.id,
            name: 'nightly',
            prefix: made.body.prefix,
            scopes: [],
            created_at: expect.stringMatching(/Z$/),
            expires_at: expect.stringMatching(/Z$/),
            last_used_at: null,
          },
        ],
        total: 1,
      });
      const path = `/api/auth/api-keys/${made.body.id}`;
      expect((await server.call('PATCH', path, { name: 'weekly' }, headers)).body).toMatchObject({
        name: 'weekly',
      });
      const other = bearer((await server.register('another@x.test')).body.accessToken);
      for (const [method, json] of [
        ['PATCH', { name: 'mine' }],
        ['DELETE', undefined],
      ] as const)
        expect((await server.call(method, path, json, other)).text).toBe(
          '{"error":"API key not found"}',
        );
      expect((await server.call('DELETE', path, undefined, headers)).status).toBe(204);
      await mailbox.find('own@x.test', 'was revoked: weekly');
      expect((await list()).total).toBe(0);
      expect((await server.call('DELETE', path, undefined, headers)).status).toBe(404);
      await addIdentity(body.id, 'own other', 'own@x.test', true);
      expect(
        (await server.call('GET', '/api/auth/identities', undefined, headers)).body.identities,
      ).toEqual([
        {
          provider: 'other',
          email: 'own@x.test',
          created_at: expect.any(String),
          last_login_at: expect.any(String),
        },
      ]);
      expect(
        (await server.call('DELETE', '/api/auth/identities/other', undefined, headers)).status,
      ).toBe(204);
      await mailbox.find('own@x.test', 'other can no longer be used');
    });

    it('a password that was right when it was sent opens nothing once another one is set', async () => {
      const { body } = await server.register('race@x.test');
      await post('/forgot-password', { email: 'race@x.test' });
      const { token } = await mailbox.find('race@x.test', 'reset-password?token=');
      const [, ...logins] = await Promise.all([
        post('/reset-password', { token, new_password: BETTER }),
        ...Array.from({ length: 20 }, () => server.login('race@x.test')),
      ]);
      const open = logins.filter(({ status }) => status === 200);
      for (const { body: login } of open) expect(await me(bearer(login.accessToken))).toBe(401);
      expect(
        (await server.rows('auth_sessions')).filter(
          ({ user_id, revoked_at }) => user_id === body.id && revoked_at === null,
        ),
      ).toEqual([]);
    });
  },
);

/** Begins to link Google to an account. @returns what finishes it, in the same browser. */
async function startLink(server: TestServer, provider: HostileProvider, token: string) {
  const { body, headers } = await server.call(
    'POST',
    '/api/auth/link',
    { provider: 'google' },
    bearer(token),
  );
  const ticket = new URL(body.url, server.url).searchParams.get('link');
  const cookies = Object.fromEntries(
    headers.getSetCookie().map((line) => line.split(';')[0]!.split('=') as [string, string]),
  );
  provider.claims = { email: 'eve@evil.test', exp: Math.floor(Date.now() / 1000) + 3600 };
  const { finish } = await signIn(server, provider, `?link=${ticket}`, cookies);
  return finish;
}
