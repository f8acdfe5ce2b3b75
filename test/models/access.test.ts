import { modelFlows } from '../../runtime/models/flows/index.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Handler, reply } from '../../runtime/core/http/route.ts';
import { asRoot, bearer, startServer, type TestServer } from '../auth/server.ts';

const PASSWORD = 'the operator knows this';
const fine: Handler = ({ route }) => reply(200, { id: route.id });
const CALLS = modelFlows.map(
  ({ id, method, path }) =>
    [id, method, path.replace('*path', 'chat/completions').replace(/:\w+/g, 'x')] as const,
);
/** Everything that changes something; asking a model does not. */
const CHANGES = new Set<string>(
  modelFlows
    .filter(({ id, method }) => method !== 'GET' && id !== 'promptModel')
    .map(({ id }) => id),
);

const bodyOf = (id: string, method: string) => {
  if (id === 'createModelKey' || id === 'updateModelKey') return { name: 'x' };
  if (id.startsWith('downloadModel')) return undefined;
  return method === 'POST' ? { model: 'x/y' } : undefined;
};

describe('the routes of the language models', () => {
  let server: TestServer;
  const call = async (headers: Record<string, string>) => {
    const statuses: Record<string, number> = {};
    for (const [id, method, path] of CALLS)
      statuses[id] = (await server.call(method, path, bodyOf(id, method), headers)).status;
    return statuses;
  };
  const expected = (status: (id: string) => number) =>
    Object.fromEntries(CALLS.map(([id]) => [id, status(id)]));
  const keyed = async (...scopes: string[]) => ({
    'X-API-Key': (
      await server.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes }, asRoot)
    ).body.key as string,
  });

  beforeAll(async () => {
    server = await startServer({
      database: 'SQLite',
      hosting: {},
      env: { HOST_PASSWORD: PASSWORD },
      modules: [{ name: 'hosting', routes: modelFlows.map((spec) => ({ spec, handle: fine })) }],
    });
  });
  afterAll(() => server.close());

  it('are closed to strangers, and to who signed up', async () => {
    expect(await call({})).toEqual(expected(() => 401));
    const { body } = await server.register();
    expect(
      Object.values(await call(bearer(body.accessToken))).filter((status) => status === 200),
    ).toEqual([]);
  });

  it('let a key read and ask with models:read, and change with models:write', async () => {
    expect(await call(await keyed('models:read'))).toEqual(
      expected((id) => (CHANGES.has(id) ? 403 : 200)),
    );
    expect(await call(await keyed('models:write'))).toEqual(
      expected((id) => (CHANGES.has(id) ? 200 : 403)),
    );
    expect(await call(await keyed('posts:read', 'apps:write'))).toEqual(expected(() => 403));
  });

  it('are open to the operator and to the root key', async () => {
    const { body } = await server.call('POST', '/api/auth/login', { password: PASSWORD });
    expect(await call(bearer(body.token))).toEqual(expected(() => 200));
    expect(await call(asRoot)).toEqual(expected(() => 200));
  });
});
