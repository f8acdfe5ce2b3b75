import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { GOOD, startConsole, type ConsoleServer } from './server.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const ADMIN = '/api/auth/admin';

/** Bodies that the routes take, so that nothing but the right is missing. */
const EXAMPLES: Readonly<Record<string, object>> = {
  createApiKey: { name: 'k', scopes: ['auth:read'] },
  updateApiKey: { scopes: ['auth:read'] },
  introspect: { token: 'x' },
  revokeTokens: { user_id: 1 },
  createUser: { email: 'new@x.test' },
  impersonate: { reason: 'x' },
  assignRole: { role_id: 1 },
  createRole: { name: 'Boss', permissions: ['*'] },
  updateRole: { name: 'Boss' },
  createWebhook: { url: 'https://x.test' },
  updateWebhook: { disabled: true },
};

describe('what console.roles gives to a role', () => {
  let server: ConsoleServer;
  let manager: Record<string, string>;
  let target: string;
  const login = async (email: string) =>
    (await server.call('POST', '/api/auth/login', { email, password: GOOD })).body;
  const roleId = async (name: string, as: Record<string, string>) => {
    const { body } = await server.call('GET', `${ADMIN}/roles`, undefined, as);
    return body.roles.find((role: { name: string }) => role.name === name).id as number;
  };
  beforeAll(async () => {
    server = await startConsole();
    const token = 'setup-of-the-console-0123456789abcdef';
    await server.call('POST', '/api/auth/setup', { token, email: 'owner@x.test', password: GOOD });
    for (const email of ['manager@x.test', 'support@x.test'])
      await server.call('POST', '/api/auth/register', { email, password: GOOD });
    const owner = bearer((await login('owner@x.test')).accessToken);
    const permissions = ['auth:manage', 'auth:impersonate'];
    await server.call('POST', `${ADMIN}/roles`, { name: 'Manager', permissions }, owner);
    const give = async (email: string, role: string) => {
      const { id } = await login(email);
      const path = `${ADMIN}/users/${id}/role`;
      const given = await server.call('PUT', path, { role_id: await roleId(role, owner) }, owner);
      expect(given.status).toBe(200);
      return String(id);
    };
    await give('manager@x.test', 'Manager');
    target = await give('support@x.test', 'Support');
    manager = bearer((await login('manager@x.test')).accessToken);
  });
  afterAll(() => server.close());

  it('is not taken by acting as a user who has it, nor through that account', async () => {
    const user = `${ADMIN}/users/${target}`;
    const acts = server.call('POST', `${user}/impersonate`, { reason: 'x' }, manager);
    const ends = server.call('DELETE', `${user}/sessions`, undefined, manager);
    const key = { name: 'k', scopes: ['posts:read'], user_id: Number(target) };
    const makes = server.call('POST', `${ADMIN}/api-keys`, key, manager);
    const answers = await Promise.all([acts, ends, makes]);
    const refused = { error: 'Forbidden' };
    expect(answers.map(({ body }) => body)).toEqual([refused, refused, refused]);
  });

  it('is not handed out by somebody who does not hold it', async () => {
    const { id } = await login('manager@x.test');
    const role_id = await roleId('Support', manager);
    const path = `${ADMIN}/users/${id}/role`;
    expect((await server.call('PUT', path, { role_id }, manager)).status).toBe(403);
    const permission = `${ADMIN}/roles/${role_id}/permissions/auth:manage`;
    expect((await server.call('PUT', permission, undefined, manager)).status).toBe(403);
  });
});

describe('the routes of the page Users', () => {
  let server: ConsoleServer;
  const tokens: Record<string, Record<string, string>> = {};
  beforeAll(async () => {
    server = await startConsole({
      manifest: `
name: shop
auth: { roles: { list: [Owner, Support, Member, Viewer], first: Owner, default: Member } }
console: { roles: { Owner: ["*"], Support: ["auth:read"], Viewer: ["*:read"] } }
`,
    });
    const token = 'setup-of-the-console-0123456789abcdef';
    await server.call('POST', '/api/auth/setup', { token, email: 'owner@x.test', password: GOOD });
    const sign = async (email: string) => {
      const { body } = await server.call('POST', '/api/auth/login', { email, password: GOOD });
      return { id: body.id as number, as: bearer(body.accessToken) };
    };
    const owner = (await sign('owner@x.test')).as;
    for (const [name, role_id] of Object.entries({ support: 2, member: 3, viewer: 4 })) {
      const email = `${name}@x.test`;
      await server.call('POST', '/api/auth/register', { email, password: GOOD });
      const { id } = await sign(email);
      await server.call('PUT', `${ADMIN}/users/${id}/role`, { role_id }, owner);
      tokens[name] = (await sign(email)).as;
    }
    tokens['nobody'] = {};
  });
  afterAll(() => server.close());

  it.each(authFlows.filter(({ tag }) => tag === 'auth-admin'))(
    '$method $path reads with auth:read, and changes nothing with it',
    async (route) => {
      const path = route.path.replaceAll(/:\w+/g, '1');
      const body = route.method === 'GET' ? undefined : (EXAMPLES[route.id] ?? {});
      const asked = async (who: string) =>
        (await server.call(route.method, path, body, tokens[who])).status;
      const answers = await Promise.all(['support', 'viewer', 'member', 'nobody'].map(asked));
      if (route.method !== 'GET') return expect(answers).toEqual([403, 403, 403, 401]);
      expect(answers.slice(2)).toEqual([403, 401]);
      expect(answers.slice(0, 2).every((status) => status < 400 || status === 404)).toBe(true);
    },
  );
});
