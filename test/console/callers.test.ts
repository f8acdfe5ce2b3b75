import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOOD, OPERATOR, startConsole, type ConsoleServer } from './server.ts';
import { codeAt } from '../auth/totp-code.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const HOSTED = { client: 'console', delivery: 'cookie' };

describe('callers that the console lets in', () => {
  let server: ConsoleServer;
  let owner: Record<string, string>;
  const login = (email: string, more = {}) =>
    server.call('POST', '/api/auth/login', { email, password: GOOD, ...more });
  const give = (id: number, role_id: number) =>
    server.call('PUT', `/api/auth/admin/users/${id}/role`, { role_id }, owner);
  const register = async (email: string) =>
    (await server.call('POST', '/api/auth/register', { email, password: GOOD })).body.id as number;
  beforeAll(async () => {
    server = await startConsole({
      routes: (router) => {
        router.get('/reports', { auth: { scope: 'data:read' } }, () => ({ reports: 3 }));
      },
      credentials: [
        ({ headers }) => {
          const [, id] = /^Id (\d+)$/.exec(String(headers['authorization'])) ?? [];
          return id === undefined ? undefined : { userId: Number(id), method: 'id' };
        },
      ],
    });
    const token = 'setup-of-the-console-0123456789abcdef';
    await server.call('POST', '/api/auth/setup', { token, email: 'owner@x.test', password: GOOD });
    owner = bearer((await login('owner@x.test')).body.accessToken);
  });
  afterAll(() => server.close());

  it('are the operator, on own routes with a scope too', async () => {
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    const asked = (headers: Record<string, string>) =>
      server.call('GET', '/reports', undefined, headers);
    expect((await asked(bearer(body.token))).status).toBe(200);
    expect((await asked({})).status).toBe(401);
    await register('plain@x.test');
    expect((await asked(bearer((await login('plain@x.test')).body.accessToken))).status).toBe(403);
  });

  it('have what console.roles gives to their role, whatever found them', async () => {
    const id = await register('found@x.test');
    const asked = () => server.call('GET', '/reports', undefined, { Authorization: `Id ${id}` });
    expect((await asked()).status).toBe(403);
    await give(id, 2);
    expect((await asked()).status).toBe(200);
    const me = await server.call('GET', '/api/console', undefined, { Authorization: `Id ${id}` });
    expect([me.status, me.body.caller.permissions]).toEqual([200, ['data:read']]);
  });

  it('make no key with a scope that only console.roles gives, since it would do nothing', async () => {
    const id = await register('keys@x.test');
    await give(id, 2);
    const as = bearer((await login('keys@x.test')).body.accessToken);
    const make = (scope: string) =>
      server.call('POST', '/api/auth/api-keys', { name: 'k', scopes: [scope] }, as);
    expect((await make('posts:read')).status).toBe(201);
    expect((await make('system:read')).body).toEqual({ error: 'Forbidden' });
    const refused = await make('data:read');
    expect([refused.status, refused.body.error]).toEqual([
      403,
      expect.stringMatching(/^A key cannot have data:read: .* grant it to the role/),
    ]);
    await server.call('PUT', '/api/auth/admin/roles/2/permissions/data:read', undefined, owner);
    const again = bearer((await login('keys@x.test')).body.accessToken);
    const { body, status } = await server.call(
      'POST',
      '/api/auth/api-keys',
      { name: 'k', scopes: ['data:read'] },
      again,
    );
    expect(status).toBe(201);
    const used = await server.call('GET', '/reports', undefined, { 'X-API-Key': body.key });
    expect(used.status).toBe(200);
    await server.call('DELETE', '/api/auth/admin/roles/2/permissions/data:read', undefined, owner);
  });

  it('reauthenticate only as long as they may enter, between two steps too', async () => {
    const id = await register('again@x.test');
    await give(id, 2);
    const { body: first } = await login('again@x.test', HOSTED);
    const totp = await server.call('POST', '/api/auth/totp', {}, bearer(first.accessToken));
    const code = (step: number) => codeAt(totp.body.secret, Date.now() + step * 30_000);
    const confirm = { code: code(-1) };
    await server.call('POST', '/api/auth/totp/confirm', confirm, bearer(first.accessToken));
    const ask = () =>
      server.call(
        'POST',
        '/api/auth/reauthenticate',
        { password: GOOD },
        bearer(first.accessToken),
      );
    const allowed = await ask();
    expect(allowed.status).toBe(202);
    await give(id, 3);
    const renewed = await server.call('POST', '/api/auth/second-factor', {
      ticket: allowed.body.ticket,
      code: code(0),
    });
    expect([renewed.status, renewed.body]).toEqual([403, { error: 'Forbidden' }]);
    expect(renewed.headers.get('Set-Cookie')).toBeNull();
    await give(id, 2);
    const { ticket } = (await login('again@x.test', HOSTED)).body;
    const entered = await server.call('POST', '/api/auth/second-factor', { ticket, code: code(1) });
    expect(entered.status).toBe(200);
  });
});
