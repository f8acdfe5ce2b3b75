import type { RouteSpec } from '@twofold/schema';
import { describe, expect, it } from 'vitest';
import { modelFlows } from '../../runtime/models/flows/index.ts';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { reply } from '../../runtime/core/http/route.ts';
import type { ServerModule } from '../../runtime/core/module.ts';
import { asRoot, bearer, startServer, type TestServer } from '../auth/harness.ts';

const ROUTES: readonly RouteSpec[] = [...hostingFlows, ...modelFlows];
const SCOPES = [
  ...['apps:read', 'apps:write', 'apps:exec', 'apps:*'],
  ...['models:read', 'models:write', 'models:*'],
  ...['system:read', 'system:write', 'system:*'],
  ...['host:manage', '*', 'posts:read', 'auth:manage', 'host:read', 'app:read'],
] as const;

/** By the words of the contract: the permission itself, its whole area, everything, or the operator's own. */
const passes = (scope: string, needed: string) =>
  [needed, `${needed.split(':')[0]}:*`, '*', 'host:manage'].includes(scope);

/** The routes as they are, behind the real guards; what they do is for other tests. */
const OPEN_DOORS: ServerModule = {
  name: 'hosting',
  routes: ROUTES.map((spec) => ({
    spec: { ...spec, body: undefined, query: undefined } as never,
    handle: () => reply(200, { route: spec.id }),
  })),
};

const pathOf = ({ path }: RouteSpec) => path.replace(/:number/, '1').replace(/[:*]\w+/g, 'x');

async function reached(server: TestServer, headers: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (const route of ROUTES) {
    const { status, body } = await server.call(route.method, pathOf(route), undefined, headers);
    if (status === 200) found.push(route.id);
    else if (status !== 401) expect([route.id, status, body.error]).toEqual(refusal(route));
  }
  return found;
}
const refusal = ({ id, access }: RouteSpec) => [id, 403, `Permission ${access} is required`];

const allowed = (scope: string) =>
  ROUTES.filter(({ access }) => access === 'public' || passes(scope, access)).map(({ id }) => id);
const PUBLIC = ROUTES.filter(({ access }) => access === 'public').map(({ id }) => id);

describe.each(['host', 'users'] as const)('with hosting.access: %s', (access) => {
  it('a key passes where its scope says so, and nowhere else', async () => {
    const server = await startServer({
      database: 'SQLite',
      hosting: { access },
      env: { HOST_PASSWORD: 'the operator knows this' },
      modules: [OPEN_DOORS],
    });
    for (const scope of SCOPES) {
      const made = await server.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'ci', scopes: [scope] },
        asRoot,
      );
      expect(made.status).toBe(201);
      expect([scope, await reached(server, { 'X-API-Key': made.body.key })]).toEqual([
        scope,
        allowed(scope),
      ]);
    }
    await server.close();
  });

  it('a user passes with the permission where users may come in at all', async () => {
    const roles = { list: ['Operator', 'Member'], default: 'Member', first: null };
    const server = await startServer({
      database: 'SQLite',
      hosting: { access },
      env: { HOST_PASSWORD: 'the operator knows this' },
      auth: { roles },
      modules: [OPEN_DOORS],
    });
    const { id } = (await server.register('op@x.test')).body;
    await server.call('PUT', `/api/auth/admin/users/${id}/role`, { role_id: 1 }, asRoot);
    for (const scope of SCOPES) {
      const path = `/api/auth/admin/roles/1/permissions/${scope}`;
      expect([scope, (await server.call('PUT', path, undefined, asRoot)).status]).toEqual([
        scope,
        204,
      ]);
      const { body } = await server.login('op@x.test');
      expect([scope, await reached(server, bearer(body.accessToken))]).toEqual([
        scope,
        access === 'users' ? allowed(scope) : PUBLIC,
      ]);
      await server.call('DELETE', path, undefined, asRoot);
    }
    await server.close();
  });
});

it('every route asks for one permission of its own', () => {
  const areas = /^(apps|models|system):(read|write)$|^apps:exec$|^public$/;
  for (const { id, access, method } of ROUTES) {
    expect([id, areas.test(access)]).toEqual([id, true]);
    if (method !== 'GET' && access !== 'public')
      expect([id, access]).not.toEqual([id, 'apps:read']);
  }
});
