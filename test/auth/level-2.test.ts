import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthModel } from '@twofold/schema';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { read } from '../docs/world.ts';
import {
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

const PAGE = readFileSync(new URL('../../runtime/auth/docs/asvs.md', import.meta.url), 'utf8');
const MANIFEST = /```yaml manifest\n([^]*?)```/.exec(PAGE)![1]!;
const ORIGIN = 'https://shop.test';
const BREACHED = 'nimble otter juggles 47 lanterns';
const MINUTE = 60_000;

/** RFC 6238 by itself: SHA-1, six digits, 30 seconds. */
function totp(secret: string, now: number): string {
  const bits = [...secret]
    .map((it) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(it).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const mac = createHmac('sha1', key).update(step).digest();
  return String((mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

describeEachDatabase('§ASVS level 2, with the manifest of the docs', (database) => {
  let mailbox: Mailbox;
  let list: ReturnType<typeof createServer>;
  let server: TestServer;
  beforeAll(async () => {
    mailbox = await startMailbox();
    const hash = createHash('sha1').update(BREACHED).digest('hex').toUpperCase();
    list = createServer((_, response) => void response.end(`${hash.slice(5)}:3\r\n`));
    await new Promise<void>((resolve) => list.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(list.address() as AddressInfo).port}/range/`;
    const manifest = MANIFEST.replace(/https:[^"]*/, url);
    const { project } = read(
      'type User { id: ID! name: String! email: String! }\ntype Query { users: [User!]! }',
      manifest,
    );
    const { user: _, ...auth } = project!.auth as AuthModel;
    const env = { SMTP_URL: mailbox.url, APP_URL: ORIGIN };
    server = await startServer({ database, entity: USER, auth, env });
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
    await new Promise((resolve) => list.close(resolve));
  });

  let offset = 0;
  const advance = (milliseconds: number) => {
    offset += milliseconds;
    server.advance(milliseconds);
  };
  const code = (secret: string) => totp(secret, Date.now() + offset);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    server.call('POST', `/api/auth${path}`, body, headers);
  const STEP = 30_000;

  /** An account with TOTP: registered, verified and enrolled as the manifest demands. */
  const enrolled = async (email: string) => {
    expect((await server.register(email)).status).toBe(202);
    const { token } = await mailbox.find(email, 'token=');
    expect((await post('/verify-email', { token, password: GOOD })).status).toBe(200);
    const first = await server.login(email);
    expect([first.status, first.body.next]).toEqual([202, 'enroll_second_factor']);
    expect(first.text).not.toContain('accessToken');
    const { ticket } = first.body;
    const { secret } = (await post('/totp', { ticket })).body;
    const confirmed = await post('/totp/confirm', { ticket, code: code(secret) });
    expect(confirmed.status).toBe(200);
    advance(STEP);
    return {
      secret: secret as string,
      codes: confirmed.body.recovery_codes as string[],
      login: confirmed.body.login,
    };
  };

  it('no token before a second factor is enrolled, and then none without it (6.3.3)', async () => {
    const { secret, login } = await enrolled('level@x.test');
    expect(login.accessToken).toEqual(expect.any(String));
    const asked = await server.login('level@x.test');
    expect([asked.status, asked.body.next]).toEqual([202, 'second_factor']);
    expect(asked.headers.getSetCookie().join()).not.toContain('refresh');
    const { ticket } = asked.body;
    expect((await post('/second-factor', { ticket, code: '000000' })).body).toEqual({
      error: 'Invalid code',
    });
    const done = await post('/second-factor', { ticket, code: code(secret) });
    expect([done.status, done.body.email]).toEqual([200, 'level@x.test']);
    advance(STEP);
  });

  it('a code and a recovery code are good once (6.5.1)', async () => {
    const { secret, codes } = await enrolled('once@x.test');
    const use = async (step: object) =>
      (
        await post('/second-factor', {
          ticket: (await server.login('once@x.test')).body.ticket,
          ...step,
        })
      ).status;
    const shown = code(secret);
    expect([await use({ code: shown }), await use({ code: shown })]).toEqual([200, 401]);
    const [recovery_code] = codes;
    expect([await use({ recovery_code }), await use({ recovery_code })]).toEqual([200, 401]);
    advance(STEP);
  });

  it('a reset changes nothing before the second factor, and does not take it away (6.4.3, 6.4.4)', async () => {
    const { secret } = await enrolled('reset@x.test');
    await post('/forgot-password', { email: 'reset@x.test' });
    const { token } = await mailbox.find('reset@x.test', 'reset-password?token=');
    const begun = await post('/reset-password', { token, new_password: BETTER });
    expect([begun.status, begun.body.next]).toEqual([202, 'second_factor']);
    expect((await server.login('reset@x.test')).status).toBe(202);
    expect((await server.login('reset@x.test', BETTER)).status).toBe(401);
    const done = await post('/second-factor', { ticket: begun.body.ticket, code: code(secret) });
    expect(done.status).toBe(200);
    expect(done.text).not.toContain('accessToken');
    expect((await server.login('reset@x.test')).status).toBe(401);
    expect((await server.login('reset@x.test', BETTER)).body.next).toBe('second_factor');
    advance(STEP);
  });

  it('reauthentication gives new tokens, and the old ones are 401 (7.2.4)', async () => {
    const { secret, login } = await enrolled('again@x.test');
    const old = bearer(login.accessToken);
    const asked = await post('/reauthenticate', { password: GOOD }, old);
    expect([asked.status, asked.body.next]).toEqual([202, 'second_factor']);
    const done = await post('/second-factor', { ticket: asked.body.ticket, code: code(secret) });
    expect(done.body.reauthenticated_until).toEqual(expect.any(String));
    const me = async (token: string) =>
      (await server.call('GET', '/api/auth/me', undefined, bearer(token))).status;
    expect([await me(login.accessToken), await me(done.body.accessToken)]).toEqual([401, 200]);
    advance(STEP);
  });

  it('ending other sessions and changing what signs in needs a proof of the last five minutes (7.5.1, 7.5.2)', async () => {
    const { secret, login } = await enrolled('proof@x.test');
    const ticket = (await server.login('proof@x.test')).body.ticket;
    const other = (await post('/second-factor', { ticket, code: code(secret) })).body;
    const headers = bearer(other.accessToken);
    const listed = await server.call('GET', '/api/auth/sessions', undefined, headers);
    const foreign = listed.body.sessions.find(({ current }: { current: boolean }) => !current).id;
    advance(5 * MINUTE + STEP);
    const calls: [string, string, unknown?][] = [
      ['DELETE', `/sessions/${foreign}`],
      ['POST', '/logout-all', {}],
      ['PATCH', '/me', { phone: '+1 5550123' }],
      ['PATCH', '/me', { username: 'proved' }],
      ['POST', '/change-email', { email: 'other@x.test' }],
      ['POST', '/api-keys', { name: 'k', scopes: [] }],
      ['POST', '/totp', {}],
      ['DELETE', '/totp'],
      ['POST', '/recovery-codes', {}],
      ['POST', '/passkeys/options', {}],
      ['GET', '/me/export'],
      ['DELETE', '/me'],
    ];
    for (const [method, path, body] of calls) {
      const { status, text } = await server.call(method, `/api/auth${path}`, body, headers);
      expect([method, path, status, text]).toEqual([
        method,
        path,
        403,
        '{"error":"Reauthentication required"}',
      ]);
    }
    const asked = (await post('/reauthenticate', { password: GOOD }, headers)).body;
    const fresh = (await post('/second-factor', { ticket: asked.ticket, code: code(secret) })).body;
    const ended = await server.call(
      'DELETE',
      `/api/auth/sessions/${foreign}`,
      undefined,
      bearer(fresh.accessToken),
    );
    expect(ended.status).toBe(204);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(login.accessToken))).status,
    ).toBe(401);
    advance(STEP);
  });

  it('a breached, short or common password is refused, and a known address is not told (6.2.12, 6.3.8)', async () => {
    const refused = await server.register('weak@x.test', { password: BREACHED });
    expect([refused.status, refused.body]).toEqual([400, { error: 'Password is too common' }]);
    expect((await server.register('weak@x.test', { password: 'short otter' })).status).toBe(400);
    await server.register('known@x.test');
    const [known, unknown] = [
      await server.register('known@x.test'),
      await server.register('unknown@x.test'),
    ];
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
  });
});
