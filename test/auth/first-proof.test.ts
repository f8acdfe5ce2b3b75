import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn, startWithProvider } from './flow.ts';
import {
  type Answer,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  markVerified,
  type TestServer,
} from './harness.ts';
import type { HostileProvider } from './hostile-provider.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { databases, type Firm, founder, MANIFEST, startFirm } from './organizations-server.ts';
import { enableTotp } from './totp-app.ts';

const STRANGERS = 'what the stranger typed 1';
const OWNERS = 'what the owner typed 22';

/** The first cookie of an answer with this name, as a browser sends it back. */
const cookieIn = ({ headers }: { headers: Headers }, name: string) => ({
  Cookie: headers
    .getSetCookie()
    .find((each) => each.startsWith(`${name}=`))!
    .split(';')[0]!,
});

describeEachDatabase('the first proof of an address', (database) => {
  let mailbox: Mailbox;
  let server: TestServer;
  let provider: HostileProvider;
  let close: () => Promise<void>;
  beforeAll(async () => {
    mailbox = await startMailbox();
    ({ server, provider, close } = await startWithProvider({
      database,
      env: { SMTP_URL: mailbox.url },
      auth: { emailSignIn: 'both' },
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
  const ofUser = async (table: string, id: number) =>
    (await server.rows(table)).filter(({ user_id }) => user_id === id).length;

  /** Everything that a stranger can make with an address that is not theirs. */
  const occupy = async (email: string) => {
    const { body } = await server.register(email, { password: STRANGERS });
    const id = body.id as number;
    const link = await mailbox.find(email, 'verify-email?token=');
    const key = await post('/api-keys', { name: 'theirs', scopes: [] }, bearer(body.accessToken));
    await enableTotp(server, body.accessToken);
    const made = { user_id: id, created_at: 1 };
    const { db } = server.kernel.store;
    await db
      .insertInto('auth_passkeys')
      .values({
        ...made,
        id: `passkey ${email}`,
        name: 'theirs',
        public_key: '',
        counter: 0,
        backed_up: 0,
        transports: '[]',
        last_used_at: null,
      })
      .execute();
    await db
      .insertInto('auth_identities')
      .values({
        ...made,
        provider: 'other',
        subject: email,
        email: 'eve@evil.test',
        email_verified: 1,
        last_login_at: 1,
      })
      .execute();
    return { id, body, key: { 'X-API-Key': key.body.key as string }, link: link.token! };
  };

  const FLOWS: Record<string, (email: string) => Promise<number>> = {
    'a sign-in by mail': async (email) => {
      const asked = await post('/email-sign-in', { email });
      const { token } = await mailbox.find(email, 'email-sign-in?token=');
      return (await post('/email-sign-in/complete', { token, ticket: asked.body.ticket })).status;
    },
    'a reset': async (email) => {
      await post('/forgot-password', { email });
      const { token } = await mailbox.find(email, 'reset-password?token=');
      return (await post('/reset-password', { token, new_password: OWNERS })).status;
    },
    'a verification link': async (email) => {
      await post('/resend-verification', { email });
      const { token } = await mailbox.find(email, 'verify-email?token=');
      const step = await post('/verify-email', { token });
      expect([step.status, step.body.next]).toEqual([202, 'confirm_password']);
      const { ticket } = step.body;
      return (await post('/verify-email', { ticket, new_password: OWNERS })).status;
    },
    'a provider': async (email) => {
      const claims = { sub: `of ${email}`, email, email_verified: true };
      Object.assign(provider, { claims: { ...provider.claims, ...claims } });
      const flow = await signIn(server, provider);
      return (await flow.finish()).status;
    },
  };

  it.each(Object.keys(FLOWS))('by %s ends all that a stranger made', async (flow) => {
    const email = `${flow.replaceAll(' ', '-')}@x.test`;
    const { id, body, key, link } = await occupy(email);
    const waiting = await post('/email-sign-in', { email });
    const code = /\b(\d{6})\b/.exec((await mailbox.find(email, 'sign-in?token=')).text)![1];
    expect([await me(bearer(body.accessToken)), await me(key)]).toEqual([200, 200]);
    expect(await FLOWS[flow]!(email)).toBe(200);
    expect({
      password: (await server.login(email, STRANGERS)).status,
      session: await me(bearer(body.accessToken)),
      'refresh token': (await post('/refresh', { refreshToken: body.refreshToken })).status,
      key: await me(key),
      passkeys: await ofUser('auth_passkeys', id),
      'recovery codes': await ofUser('auth_recovery_codes', id),
      identities: (await server.rows('auth_identities')).filter(({ subject }) => subject === email)
        .length,
      'link of the registration': (
        await post('/verify-email', { token: link, password: STRANGERS })
      ).status,
      'sign-in that waits': (
        await post('/email-sign-in/complete', { code, ticket: waiting.body.ticket })
      ).status,
    }).toEqual({
      password: 401,
      session: 401,
      'refresh token': 401,
      key: 401,
      passkeys: 0,
      'recovery codes': 0,
      identities: 0,
      'link of the registration': 400,
      'sign-in that waits': 400,
    });
    // No second factor is left that the owner does not have, and the row is the same.
    const asked = await post('/email-sign-in', { email });
    const { token } = await mailbox.find(email, 'email-sign-in?token=');
    const next = await post('/email-sign-in/complete', { token, ticket: asked.body.ticket });
    expect([next.status, next.body.id]).toEqual([200, id]);
  });

  it('keeps what is shown to be of the one who proves it', async () => {
    const shows: Record<
      string,
      (account: Awaited<ReturnType<TestServer['register']>>, email: string) => [object, object]
    > = {
      session: ({ body }) => [{}, bearer(body.accessToken)],
      browser: (account) => [{}, cookieIn(account, 'registered')],
      password: () => [{ password: GOOD }, {}],
    };
    for (const [shown, show] of Object.entries(shows)) {
      const email = `own-${shown}@x.test`;
      const account = await server.register(email);
      const { token } = await mailbox.find(email, 'verify-email?token=');
      expect((await post('/verify-email', { token, password: BETTER })).status).toBe(401);
      const [body, headers] = show(account, email);
      const answer = await post('/verify-email', { token, ...body }, { ...headers });
      expect([shown, answer.status]).toEqual([shown, 200]);
      expect(await me(bearer(account.body.accessToken))).toBe(200);
      expect((await server.login(email)).status).toBe(200);
    }
  });

  it('lets one of two proofs at once win, and the other finds its link used', async () => {
    const email = 'two@x.test';
    await occupy(email);
    await post('/forgot-password', { email });
    const reset = await mailbox.find(email, 'reset-password?token=');
    await post('/resend-verification', { email });
    const link = await mailbox.find(email, 'verify-email?token=');
    const answers = await Promise.all([
      post('/reset-password', { token: reset.token, new_password: BETTER }),
      post('/verify-email', { ticket: link.token, new_password: OWNERS }),
      server.login(email, STRANGERS),
    ]);
    expect(
      answers
        .slice(0, 2)
        .map(({ status }) => status)
        .sort(),
    ).toEqual([200, 400]);
    const right = answers[0]!.status === 200 ? BETTER : OWNERS;
    for (const password of [STRANGERS, BETTER, OWNERS])
      expect((await server.login(email, password)).status).toBe(password === right ? 200 : 401);
  });

  it('of an address to change to gives its owner no account of a stranger', async () => {
    const { body } = await server.register('stranger@x.test');
    await markVerified(server, body);
    await post('/change-email', { email: 'victim@x.test' }, bearer(body.accessToken));
    const { token } = await mailbox.find('victim@x.test', 'change-email?token=');
    for (const given of [{}, { new_password: OWNERS }])
      expect((await post('/verify-email', { token, ...given })).body.next).toBe('confirm_password');
    expect((await server.register('victim@x.test')).status).toBe(201);
  });
});

describeEachDatabase('registrations of one address under strict', (database) => {
  it('live beside each other until the link of one is opened by whoever typed it', async () => {
    const mailbox = await startMailbox();
    const server = await startWithProvider({
      database,
      env: { SMTP_URL: mailbox.url },
      auth: { enumeration: 'strict', requireVerifiedEmail: true },
    });
    const { call, login, register } = server.server;
    const email = 'mine@x.test';
    const stranger = await register(email, { password: STRANGERS, first_name: 'Eve' });
    const first = await mailbox.find(email, 'verify-email?token=');
    const owner = await register(email, { password: OWNERS, first_name: 'Ann' });
    const second = await mailbox.find(email, 'verify-email?token=');
    expect([owner.status, owner.text]).toEqual([stranger.status, stranger.text]);
    expect(Object.keys(Object.fromEntries(owner.headers)).sort()).toEqual(
      Object.keys(Object.fromEntries(stranger.headers)).sort(),
    );
    // The owner cannot tell the mails apart: either link keeps what their own browser typed.
    const path = '/api/auth/verify-email';
    expect((await call('POST', path, { token: first.token })).status).toBe(202);
    const cookie = cookieIn(owner, 'registered');
    expect((await call('POST', path, { token: first.token }, cookie)).status).toBe(200);
    expect((await call('POST', path, { token: second.token }, cookie)).status).toBe(400);
    expect((await login(email, STRANGERS)).status).toBe(401);
    const { status, body } = await login(email, OWNERS);
    expect([status, body.first_name]).toEqual([200, 'Ann']);
    await server.close();
    await mailbox.close();
  });
});

const FIRM = MANIFEST.replace('{ organizations', '{ email_sign_in: both, organizations');

describe.each(databases)('what a stranger reaches in organizations, on %s', (database) => {
  let firm: Firm;
  let ann: Awaited<ReturnType<typeof founder>>;
  beforeAll(async () => {
    firm = await startFirm(database, { manifest: FIRM });
    ann = await founder(firm, 'ann');
  });
  afterAll(() => firm.close());

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    firm.call('POST', `/api/auth${path}`, body, headers);
  const own = (headers: Record<string, string>) =>
    firm.call('GET', '/api/auth/organizations', undefined, headers);
  const mailedFor = async (email: string, ask: () => Promise<unknown>) => {
    firm.lines.length = 0;
    await ask();
    return firm.mailed(email);
  };
  const invite = (email: string) =>
    mailedFor(email, () =>
      post(
        `/organizations/${ann.company}/invitations`,
        { email, role: 'Member' },
        { ...ann.headers },
      ),
    );

  const FLOWS: Record<string, (email: string) => Promise<Answer>> = {
    'a sign-in by mail': async (email) => {
      let ticket = '';
      const token = await mailedFor(email, async () => {
        ticket = (await post('/email-sign-in', { email })).body.ticket;
      });
      return post('/email-sign-in/complete', { token, ticket });
    },
    'a reset': async (email) => {
      const token = await mailedFor(email, () => post('/forgot-password', { email }));
      return post('/reset-password', { token, new_password: OWNERS });
    },
    'a verification link': async (email) => {
      const token = await mailedFor(email, () => post('/resend-verification', { email }));
      const { ticket } = (await post('/verify-email', { token })).body;
      return post('/verify-email', { ticket, new_password: OWNERS });
    },
    'an invitation': async (email) => {
      const registration = { email, name: 'bob', password: OWNERS };
      return post('/register', { ...registration, invitation: await invite(email) });
    },
  };

  it.each(Object.keys(FLOWS))('ends with the first proof by %s', async (flow) => {
    const name = flow.replaceAll(' ', '-');
    const stranger = await firm.person(name, { password: STRANGERS });
    // Without a proof nobody joins by an invitation, and what they found is theirs alone.
    const token = await invite(stranger.email);
    expect((await post('/invitations/accept', { token }, stranger.headers)).status).toBe(403);
    const founded = await post('/organizations', { name: 'trap' }, stranger.headers);
    const key = await post('/api-keys', { name: 'theirs', scopes: [] }, stranger.headers);
    const byKey = { 'X-API-Key': key.body.key as string };
    expect([founded.status, key.status]).toEqual([201, 201]);

    const { status, body } = await FLOWS[flow]!(stranger.email);
    expect([200, 201]).toContain(status);
    for (const headers of [stranger.headers, byKey]) expect((await own(headers)).status).toBe(401);
    // The row stays, as all rows of the project do, and its owner is who proved the address.
    const signedIn =
      body.accessToken ??
      (await firm.call('POST', '/api/auth/login', { email: stranger.email, password: OWNERS })).body
        .accessToken;
    const { organizations } = (await own({ Authorization: `Bearer ${signedIn}` })).body;
    const joined = flow === 'an invitation' ? [ann.company] : [];
    expect(organizations.map(({ id }: { id: number }) => id).sort()).toEqual(
      [...joined, founded.body.id].sort(),
    );
  });
});
