import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../runtime/auth/second-factor/totp.ts';
import {
  type Answer,
  bearer,
  describeEachDatabase,
  GOOD,
  markVerified,
  startServer,
  type TestServer,
} from './harness.ts';
import { codeAt, enableTotp, fromBase32, mailedToken, type Member, memberOf } from './totp-app.ts';

const STEP = 30_000;
const MINUTE = 60_000;
const INVALID_TOKEN = '{"error":"Invalid or expired token"}';
const INVALID_CODE = '{"error":"Invalid code"}';

describe("auth-2 acceptance 6: TOTP by RFC 6238's vectors", () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('the vector of Appendix B at %i s is %s', (seconds, eight) => {
    expect(fromBase32(secret).toString()).toBe('12345678901234567890');
    const now = seconds * 1000;
    const step = Math.floor(seconds / 30);
    expect(stepOf(secret, eight.slice(2), now)).toBe(step);
    expect(stepOf(secret, eight.slice(2), now + STEP)).toBe(step);
    expect(stepOf(secret, eight.slice(2), now - STEP)).toBe(step);
    expect(stepOf(secret, eight.slice(2), now + 2 * STEP)).toBeNull();
    expect(stepOf(secret, eight, now)).toBeNull();
  });
});

describeEachDatabase('auth-2 §4 and §5 a sign-in in steps', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server.close());

  const second = (body: object, headers: Record<string, string> = {}) =>
    server.call('POST', '/api/auth/second-factor', body, headers);
  const code = ({ secret }: Member, steps = 0) => codeAt(secret, server.kernel.now(), steps);
  const ticketOf = async ({ email }: Member) => {
    const { status, body } = await server.login(email);
    expect([status, body.next]).toEqual([202, 'second_factor']);
    return body.ticket as string;
  };
  const me = async (token: string) =>
    (await server.call('GET', '/api/auth/me', undefined, bearer(token))).status;

  it('gives a secret of 20 bytes, its address and a QR code, and is off until a code confirms it', async () => {
    const { body } = await server.register();
    const { status, body: totp } = await server.call(
      'POST',
      '/api/auth/totp',
      {},
      bearer(body.accessToken),
    );
    expect(status).toBe(200);
    expect(fromBase32(totp.secret)).toHaveLength(20);
    const url = new URL(totp.otpauth_url);
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual([
      'otpauth:',
      'totp',
      `/Testshop:${body.email}`,
    ]);
    expect([url.searchParams.get('secret'), url.searchParams.get('issuer')]).toEqual([
      totp.secret,
      'Testshop',
    ]);
    expect(totp.qr).toMatch(/^data:image\/svg\+xml;base64,/);
    expect(Buffer.from(totp.qr.split(',')[1], 'base64').toString()).toMatch(/^<svg .*<\/svg>$/s);
    expect((await server.login(body.email)).status).toBe(200);
    const rows = await server.rows('auth_users');
    expect(JSON.stringify(rows)).not.toContain(totp.secret);
    server.advance(10 * MINUTE + 1);
    const again = await server.login(body.email);
    const late = await server.call(
      'POST',
      '/api/auth/totp/confirm',
      { code: codeAt(totp.secret, server.kernel.now()) },
      bearer(again.body.accessToken),
    );
    expect(late.text).toBe(INVALID_TOKEN);
  });

  it('asks for a code once TOTP is on, and the last step answers the login object', async () => {
    const { body } = await server.register();
    const other = await server.login(body.email);
    const { secret } = await enableTotp(server, body.accessToken);
    expect([await me(body.accessToken), await me(other.body.accessToken)]).toEqual([200, 401]);
    const first = await server.login(body.email);
    expect([first.status, first.body]).toEqual([
      202,
      {
        next: 'second_factor',
        ticket: expect.any(String),
        methods: ['totp', 'recovery_code'],
        expires_in: 300,
      },
    ]);
    // The code that confirmed TOTP was used.
    const used = await second({
      ticket: first.body.ticket,
      code: codeAt(secret, server.kernel.now()),
    });
    expect([used.status, used.text]).toEqual([401, INVALID_CODE]);
    const login = await second({
      ticket: first.body.ticket,
      code: codeAt(secret, server.kernel.now(), 1),
    });
    expect(login.status).toBe(200);
    expect(await me(login.body.accessToken)).toBe(200);
    const sessions = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(login.body.accessToken),
    );
    expect(sessions.body.sessions.map(({ amr }: { amr: string[] }) => amr)).toContainEqual([
      'pwd',
      'otp',
    ]);
    expect(
      (await second({ ticket: first.body.ticket, code: codeAt(secret, server.kernel.now(), 1) }))
        .text,
    ).toBe(INVALID_TOKEN);
    expect((await server.events('auth.login.succeeded')).at(-1)).toMatchObject({
      data: { amr: ['pwd', 'otp'] },
    });
  });

  it('never takes a step twice, nor one before it; one step to each side counts', async () => {
    const member = await memberOf(server);
    server.advance(3 * STEP);
    const login = async (steps: number) =>
      (await second({ ticket: await ticketOf(member), code: code(member, steps) })).status;
    expect(await login(2)).toBe(401);
    expect(await login(-2)).toBe(401);
    expect(await login(1)).toBe(200);
    expect(await login(0)).toBe(401);
    expect(await login(1)).toBe(401);
    server.advance(STEP);
    expect(await login(1)).toBe(200);
  });

  it('acceptance 6: of 50 with one code at once one gets in', async () => {
    const member = await memberOf(server);
    const tickets = await Promise.all(Array.from({ length: 50 }, () => ticketOf(member)));
    const answers = await Promise.all(
      tickets.map((ticket) => second({ ticket, code: code(member) })),
    );
    const of = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    expect(of(200)).toBe(1);
    expect(of(401) + of(423)).toBe(49);
  });

  it('a ticket that 50 requests race for works once', async () => {
    const member = await memberOf(server);
    const ticket = await ticketOf(member);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => second({ ticket, code: code(member) })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(
      (await server.rows('auth_sessions')).filter(
        ({ user_id, amr, revoked_at }) =>
          user_id === member.id && revoked_at === null && amr === 'pwd otp',
      ),
    ).toHaveLength(2);
  });

  it('a ticket ends after five minutes, after five wrong answers and with a new password', async () => {
    const lenient = await startServer({
      database,
      auth: { lockout: { attempts: 1000, hardAfter: 1000 } },
    });
    const member = await memberOf(lenient);
    const at = (body: object) => lenient.call('POST', '/api/auth/second-factor', body);
    const ticket = async () => (await lenient.login(member.email)).body.ticket as string;
    const right = (steps = 0) => codeAt(member.secret, lenient.kernel.now(), steps);
    const guessed = await ticket();
    const wrong = await Promise.all(
      Array.from({ length: 20 }, () => at({ ticket: guessed, code: '000000' })),
    );
    const count = (text: string) => wrong.filter((each: Answer) => each.text === text).length;
    expect([count(INVALID_CODE), count(INVALID_TOKEN)]).toEqual([5, 15]);
    expect((await at({ ticket: guessed, code: right() })).text).toBe(INVALID_TOKEN);
    const old = await ticket();
    const changed = await lenient.call(
      'POST',
      '/api/auth/change-password',
      { current_password: GOOD, new_password: `${GOOD} two` },
      bearer(member.token),
    );
    expect(changed.status).toBe(200);
    expect((await at({ ticket: old, code: right() })).text).toBe(INVALID_TOKEN);
    const late = (await lenient.login(member.email, `${GOOD} two`)).body.ticket;
    lenient.advance(5 * MINUTE + 1);
    expect((await at({ ticket: late, code: right() })).text).toBe(INVALID_TOKEN);
    await lenient.close();
  });

  it('wrong codes lock as wrong passwords do, and a right password in between does not help', async () => {
    const member = await memberOf(server);
    for (let count = 0; count < 5; count += 1)
      expect((await second({ ticket: await ticketOf(member), code: '000000' })).text).toBe(
        INVALID_CODE,
      );
    expect((await server.login(member.email)).status).toBe(423);
    expect((await server.events('auth.locked')).at(-1)).toMatchObject({ user_id: member.id });
    const failed = await server.events('auth.login.failed');
    expect(failed.at(-1)).toMatchObject({ user_id: member.id, data: { reason: 'bad_code' } });
    server.advance(16 * MINUTE);
    expect((await second({ ticket: await ticketOf(member), code: code(member) })).status).toBe(200);
    // The whole sign-in deletes the failures.
    for (let count = 0; count < 4; count += 1)
      expect((await second({ ticket: await ticketOf(member), code: '000000' })).status).toBe(401);
  });

  it('a recovery code works once, in any case, with or without its dash, and is stored as passwords are', async () => {
    const member = await memberOf(server);
    const [one, two] = member.recoveryCodes as [string, string];
    expect(new Set(member.recoveryCodes).size).toBe(10);
    for (const each of member.recoveryCodes)
      expect(each).toMatch(/^[0-9A-HJKMNP-TV-Z]{6}-[0-9A-HJKMNP-TV-Z]{6}$/);
    const use = async (recovery_code: string) =>
      second({ ticket: await ticketOf(member), recovery_code });
    expect((await use(one)).status).toBe(200);
    expect((await use(one)).text).toBe(INVALID_CODE);
    expect((await use(two.toLowerCase().replace('-', ''))).status).toBe(200);
    const rows = (await server.rows('auth_recovery_codes')).filter(
      ({ user_id }) => user_id === member.id,
    );
    expect(rows.map(({ hash }) => /^\$2b\$/.test(hash))).toEqual(Array(10).fill(true));
    expect(await server.events('recovery_code.used')).toHaveLength(2);
    const ticket = await ticketOf(member);
    const race = await Promise.all(
      Array.from({ length: 5 }, async () =>
        second({ ticket: await ticketOf(member), recovery_code: member.recoveryCodes[2]! }),
      ),
    );
    expect(race.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await second({ ticket, code: code(member), recovery_code: two })).status).toBe(400);
  });

  it('new codes void the old ones; TOTP off voids them and asks no more', async () => {
    const member = await memberOf(server);
    const fresh = await server.call('POST', '/api/auth/recovery-codes', {}, bearer(member.token));
    expect(fresh.body.recovery_codes).toHaveLength(10);
    expect(
      (await second({ ticket: await ticketOf(member), recovery_code: member.recoveryCodes[0]! }))
        .status,
    ).toBe(401);
    server.advance(5 * MINUTE);
    const removal = () => server.call('DELETE', '/api/auth/totp', undefined, bearer(member.token));
    expect((await removal()).text).toBe('{"error":"Reauthentication required"}');
    const step = await server.call(
      'POST',
      '/api/auth/reauthenticate',
      { password: GOOD },
      bearer(member.token),
    );
    expect([step.status, step.body.next]).toEqual([202, 'second_factor']);
    const proof = await second({ ticket: step.body.ticket, code: code(member) });
    expect(proof.body).toMatchObject({ reauthenticated_until: expect.any(String) });
    expect(await me(member.token)).toBe(401);
    member.token = proof.body.accessToken;
    expect((await removal()).status).toBe(204);
    expect((await server.login(member.email)).status).toBe(200);
    expect(
      (await server.rows('auth_recovery_codes')).filter(({ user_id }) => user_id === member.id),
    ).toEqual([]);
    expect((await removal()).status).toBe(404);
    const told = async (type: string) =>
      (await server.events(type)).filter(({ user_id }) => user_id === member.id).length;
    expect(await told('totp.enabled')).toBe(1);
    expect(await told('recovery_codes.created')).toBe(2);
    expect(await told('totp.disabled')).toBe(1);
  });

  it('an app that is being replaced keeps working until the new one is confirmed', async () => {
    const member = await memberOf(server);
    const start = await server.call('POST', '/api/auth/totp', {}, bearer(member.token));
    expect((await second({ ticket: await ticketOf(member), code: code(member) })).status).toBe(200);
    server.advance(STEP);
    const confirm = await server.call(
      'POST',
      '/api/auth/totp/confirm',
      { code: codeAt(start.body.secret, server.kernel.now()) },
      bearer(member.token),
    );
    expect(confirm.status).toBe(200);
    server.advance(STEP);
    expect((await second({ ticket: await ticketOf(member), code: code(member) })).status).toBe(401);
    expect(
      (
        await second({
          ticket: await ticketOf(member),
          code: codeAt(start.body.secret, server.kernel.now()),
        })
      ).status,
    ).toBe(200);
  });

  it('a reset with a second factor changes nothing before that step', async () => {
    const member = await memberOf(server);
    await markVerified(server, member);
    await server.call('POST', '/api/auth/forgot-password', { email: member.email });
    const token = await mailedToken(server, 'reset-password');
    const reset = () =>
      server.call('POST', '/api/auth/reset-password', { token, new_password: `${GOOD} three` });
    const first = await reset();
    expect([first.status, first.body.next]).toEqual([202, 'second_factor']);
    expect([(await server.login(member.email)).status, await me(member.token)]).toEqual([202, 200]);
    expect(JSON.stringify(await server.rows('auth_one_time_tokens'))).not.toContain(token);
    const done = await second({ ticket: first.body.ticket, code: code(member) });
    expect([done.status, done.body]).toEqual([200, { message: 'Password reset successful' }]);
    expect([(await server.login(member.email)).status, await me(member.token)]).toEqual([401, 401]);
    expect((await server.login(member.email, `${GOOD} three`)).status).toBe(202);
    expect((await reset()).text).toBe(INVALID_TOKEN);
  });
});
