import { afterAll, beforeAll, expect, it } from 'vitest';
import { bearer, describeEachDatabase, GOOD, startServer, type TestServer } from './harness.ts';
import { codeAt, enableTotp, type Member, memberOf } from './totp-app.ts';

const DAY = 86_400_000;
const STEP = 30_000;

describeEachDatabase('auth-2 §7 remembered devices', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server.close());

  const login = ({ email }: Member, headers: Record<string, string> = {}) =>
    server.login(email, GOOD, headers);
  /** Signs in and has the device remembered. */
  const remember = async (member: Member, headers: Record<string, string> = {}) => {
    const { body } = await login(member);
    server.advance(STEP);
    const done = await server.call(
      'POST',
      '/api/auth/second-factor',
      {
        ticket: body.ticket,
        code: codeAt(member.secret, server.kernel.now()),
        remember_device: true,
      },
      headers,
    );
    expect(done.status).toBe(200);
    const cookie = done.headers.getSetCookie().find((each) => each.startsWith('remembered='))!;
    const token = done.headers.get('X-Remembered-Device')!;
    return { cookie, value: cookie.split(';')[0]!, token, as: bearer(done.body.accessToken) };
  };
  const devices = (as: Record<string, string>) =>
    server.call('GET', '/api/auth/devices', undefined, as);

  it('asks for no second factor there, by cookie or by header, until the time is over', async () => {
    const member = await memberOf(server);
    const { cookie, value, token, as } = await remember(member, {
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
    });
    expect(cookie).toMatch(/; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect((await login(member)).status).toBe(202);
    expect((await login(member, { Cookie: value })).status).toBe(200);
    const app = await login(member, { 'X-Remembered-Device': token });
    expect(app.status).toBe(200);
    const sessions = await server.call('GET', '/api/auth/sessions', undefined, as);
    expect(sessions.body.sessions.map(({ amr }: { amr: string[] }) => amr)).toContainEqual([
      'pwd',
      'remembered',
    ]);
    const { body } = await devices(as);
    expect(body).toEqual({
      devices: [
        {
          id: expect.any(String),
          name: 'Firefox on Linux',
          created_at: expect.any(String),
          last_used_at: expect.any(String),
          ip: expect.any(String),
        },
      ],
      total: 1,
    });
    expect(JSON.stringify(await server.rows('auth_remembered_devices'))).not.toContain(token);
    // It belongs to one user, also when two use the browser.
    const other = await memberOf(server);
    expect((await login(other, { Cookie: value })).status).toBe(202);
    const both = await remember(other, { Cookie: value });
    for (const each of [member, other])
      expect((await login(each, { Cookie: both.value })).status).toBe(200);
    server.advance(30 * DAY);
    expect((await login(member, { Cookie: value })).status).toBe(202);
  });

  it('a reauthentication and a reset ask for it all the same', async () => {
    const member = await memberOf(server);
    const { value, as } = await remember(member);
    const step = await server.call(
      'POST',
      '/api/auth/reauthenticate',
      { password: GOOD },
      { ...as, Cookie: value },
    );
    expect([step.status, step.body.next]).toEqual([202, 'second_factor']);
  });

  it('a lost device is renamed and forgotten from another one, and only by its owner', async () => {
    const member = await memberOf(server);
    const lost = await remember(member);
    const { body } = await devices(lost.as);
    const at = `/api/auth/devices/${body.devices[0].id}`;
    const stranger = bearer((await server.register()).body.accessToken);
    for (const [method, json] of [
      ['PATCH', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const)
      expect((await server.call(method, at, json, stranger)).text).toBe(
        '{"error":"Device not found"}',
      );
    const renamed = await server.call('PATCH', at, { name: 'Old laptop' }, lost.as);
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Old laptop']);
    expect((await server.call('PATCH', at, { name: ' ' }, lost.as)).status).toBe(400);
    expect((await server.call('DELETE', at, undefined, lost.as)).status).toBe(204);
    expect((await login(member, { Cookie: lost.value })).status).toBe(202);
    expect((await devices(lost.as)).body).toEqual({ devices: [], total: 0 });
    const names = ['device.remembered', 'device.forgotten'];
    for (const name of names)
      expect((await server.events(name)).at(-1)).toMatchObject({ user_id: member.id });
  });

  it('a new password and a new secret forget every device', async () => {
    const member = await memberOf(server);
    const first = await remember(member);
    await enableTotp(server, first.as.Authorization.split(' ')[1]!).then(({ secret }) =>
      Object.assign(member, { secret }),
    );
    expect((await login(member, { Cookie: first.value })).status).toBe(202);
    server.advance(STEP);
    const again = await remember(member);
    const changed = await server.call(
      'POST',
      '/api/auth/change-password',
      { current_password: GOOD, new_password: `${GOOD} new` },
      again.as,
    );
    expect(changed.status).toBe(200);
    const { status } = await server.login(member.email, `${GOOD} new`, { Cookie: again.value });
    expect(status).toBe(202);
    expect((await server.events('password.changed')).at(-1)).toMatchObject({
      data: { devices_ended: 1 },
    });
  });

  it('remember: 0s remembers none; over https the cookie is Secure', async () => {
    const never = await startServer({ database, auth: { secondFactor: { remember: 0 } } });
    const secure = await startServer({ database, env: { APP_URL: 'https://shop.test' } });
    for (const [own, wanted] of [
      [never, []],
      [secure, [expect.stringMatching(/; Secure$/)]],
    ] as const) {
      const member = await memberOf(own);
      const { body } = await own.login(member.email);
      const done = await own.call('POST', '/api/auth/second-factor', {
        ticket: body.ticket,
        code: codeAt(member.secret, own.kernel.now()),
        remember_device: true,
      });
      expect(done.status).toBe(200);
      expect(done.headers.getSetCookie().filter((each) => /^remembered=/.test(each))).toEqual(
        wanted,
      );
      await own.close();
    }
  });
});
