import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobRoutes } from '@twofold/schema';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { webConsole } from '@twofold/console/server';
import { auth } from '../../runtime/auth/index.ts';
import { isAudited } from '../../runtime/core/audit/audited-route.ts';
import { databases, type JobServer, newDatabase, type Place, startJobs } from '../jobs/server.ts';

const KEY = 'root-key-of-the-tests-0123456789';
const OPERATOR = 'the operator knows this';
const GOOD = 'correct horse battery staple';
const SDL = `
  type User { id: ID! email: String! @unique name: String }
  type Note @auth(allow: [PUBLIC]) { id: ID! text: String! }
  type Query { notes: [Note!]! }
`;
const MANIFEST = `
name: shop
auth: { roles: { list: [Owner, Member], first: Owner, default: Member }, impersonation: true }
console: { roles: { Owner: ["*"] } }
`;
const env = {
  JWT_SECRET: 'a secret of the tests that is long enough',
  API_KEY: KEY,
  HOST_PASSWORD: OPERATOR,
  SETUP_TOKEN: 'setup-of-the-audit-0123456789abcdef',
  RATE_LIMIT_ENABLED: 'false',
  WEBHOOK_ALLOW_PRIVATE: 'on',
};
const failing = {
  attempts: 1,
  run: () => {
    throw new Error('it is broken');
  },
};

interface Answer {
  readonly status: number;
  readonly body: any;
}
type Headers = Readonly<Record<string, string>>;

describe.each(databases)('the audit log on %s', (database) => {
  let place: Place;
  let server: JobServer;
  let console: Headers;
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Headers = { 'X-API-Key': KEY },
  ): Promise<Answer> => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  const entries = async (query = ''): Promise<any[]> =>
    (await call('GET', `/api/system/audit${query}`)).body.entries;

  beforeAll(async () => {
    place = await newDatabase(database);
    server = await startJobs({
      jobs: { letter: { run: () => {} }, broken: failing, later: { run: () => {} } },
      url: place.url,
      env,
      sdl: SDL,
      manifest: MANIFEST,
      capabilities: [auth(), webConsole()],
    });
    const owner = { email: 'owner@x.test', password: GOOD };
    await call('POST', '/api/auth/setup', { token: env.SETUP_TOKEN, ...owner }, {});
    const { body } = await call(
      'POST',
      '/api/auth/login',
      { ...owner, client: 'console', delivery: 'cookie' },
      {},
    );
    console = { Authorization: `Bearer ${body.accessToken}` };
  });
  afterAll(async () => {
    await server?.close();
    await place?.drop();
  });

  /** A user, for routes that change one. */
  const user = (email: string): Promise<number> => made('users', { email });
  const made = async (path: string, body: unknown) =>
    (await call('POST', `/api/auth/admin/${path}`, body)).body.id;
  const job = async (name: string) => (await call('POST', '/api/system/jobs', { name })).body.id;
  const hook = { url: 'http://127.0.0.1:9/x?token=hunter2-hunter2', types: ['user.disabled'] };
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

  /** For each route how to call it, and what its entry says; a route that is not here fails below. */
  const STEPS: Readonly<Record<string, (n: number) => Promise<readonly [string, unknown?]>>> = {
    createApiKey: async () => ['', { name: 'ci', scopes: ['notes:read'] }],
    updateApiKey: async () => [
      `${await made('api-keys', { name: 'k', scopes: ['notes:read'] })}`,
      { scopes: ['notes:*'] },
    ],
    rotateApiKey: async () => [`${await made('api-keys', { name: 'k', scopes: ['notes:read'] })}`],
    revokeApiKey: async () => [`${await made('api-keys', { name: 'k', scopes: ['notes:read'] })}`],
    revokeTokens: async (n) => ['', { user_id: await user(`tokens${n}@x.test`) }],
    createUser: async (n) => ['', { email: `made${n}@x.test`, role_id: 2 }],
    unlockUser: async (n) => [`${await user(`unlock${n}@x.test`)}`],
    disableUser: async (n) => [
      `${await user(`disable${n}@x.test`)}`,
      { reason: 'spam', until: inAnHour() },
    ],
    enableUser: async (n) => [`${await user(`enable${n}@x.test`)}`],
    startReset: async (n) => [`${await user(`reset${n}@x.test`)}`],
    requirePasswordChange: async (n) => [`${await user(`change${n}@x.test`)}`],
    removeSecondFactor: async (n) => [`${await user(`second${n}@x.test`)}`],
    restoreUser: async (n) => {
      const { body } = await call(
        'POST',
        '/api/auth/register',
        { email: `restore${n}@x.test`, password: GOOD },
        {},
      );
      const { id } = body;
      const as = { Authorization: `Bearer ${body.accessToken}` };
      await call('DELETE', '/api/auth/me', { password: GOOD }, as);
      return [`${id}`];
    },
    impersonate: async (n) => [`${await user(`act${n}@x.test`)}`, { reason: 'a ticket' }],
    deleteUser: async (n) => [`${await user(`delete${n}@x.test`)}`],
    endUserSession: async (n) => {
      const email = `one${n}@x.test`;
      const account = { email, password: GOOD };
      const { body } = await call('POST', '/api/auth/register', account, {});
      const { body: list } = await call('GET', `/api/auth/admin/users/${body.id}/sessions`);
      return [`${body.id}/${list.sessions[0].id}`];
    },
    endUserSessions: async (n) => [`${await user(`end${n}@x.test`)}`],
    assignRole: async (n) => [`${await user(`role${n}@x.test`)}`, { role_id: 1 }],
    createRole: async (n) => ['', { name: `Made${n}`, permissions: ['notes:read'] }],
    updateRole: async (n) => [`${await made('roles', { name: `Old${n}` })}`, { name: `New${n}` }],
    deleteRole: async (n) => [`${await made('roles', { name: `Gone${n}` })}`],
    grantPermission: async (n) => [`${await made('roles', { name: `Grant${n}` })}/notes:read`],
    revokePermission: async () => ['2/notes:write'],
    createWebhook: async () => ['', hook],
    rotateWebhook: async () => [`${await made('webhooks', hook)}`],
    deleteWebhook: async () => [`${await made('webhooks', hook)}`],
    testWebhook: async () => [`${await made('webhooks', hook)}`],
    updateWebhook: async () => [`${await made('webhooks', hook)}`, { types: ['*'] }],
    redeliverWebhook: async (n) => {
      const id = await made('webhooks', { ...hook, types: ['*'] });
      const deliveries = `/api/auth/admin/webhooks/${id}/deliveries`;
      await call('POST', `/api/auth/admin/users/${await user(`hook${n}@x.test`)}/disable`, {});
      const first = async () => (await call('GET', deliveries)).body.deliveries.at(0)?.id;
      await expect.poll(first).toBeDefined();
      return [`${id}/${await first()}`];
    },
    sendJob: async () => ['', { name: 'letter', data: { password: 'hunter2-hunter2' } }],
    retryJob: async () => {
      const id = await job('broken');
      await expect
        .poll(async () => (await call('GET', `/api/system/jobs/${id}`)).body.state)
        .toBe('failed');
      return [`${id}`];
    },
    cancelJob: async () => [
      `${(await call('POST', '/api/system/jobs', { name: 'later', at: inAnHour() })).body.id}`,
    ],
  };
  const specs = [...authFlows, ...jobRoutes].filter(isAudited);

  it('knows of each route that changes something how to call it', () => {
    expect(specs.map(({ id }) => id).filter((id) => !(id in STEPS))).toEqual([]);
  });

  it.each(specs.filter(({ id }) => id in STEPS).map((spec, at) => [spec.id, spec, at] as const))(
    '%s by the console is one entry with who, what and no secret',
    async (id, { method, path }, at) => {
      const [first = '', body] = await STEPS[id]!(at);
      const [item = '', name = ''] = first.split('/');
      const before = await entries('?limit=1');
      const filled = path.replace(':id', item).replace(/:(name|sid|did)/, name);
      const answer = await call(method, filled, body, console);
      expect([id, answer.status, answer.body]).toEqual([
        id,
        expect.toSatisfy((status: number) => status < 300),
        answer.body,
      ]);
      const [entry, last] = await entries('?limit=2');
      expect(last?.id).toBe(before[0]?.id);
      expect(entry).toEqual({
        id: expect.any(String),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        actor: 'user:1',
        via: 'console',
        ip: '127.0.0.1',
        action: id,
        target: expect.stringMatching(/^(user|role|key|webhook|job):\w/),
        detail: expect.any(Object),
        request_id: expect.any(String),
      });
      expect(JSON.stringify(entry)).not.toMatch(/hunter2|gk_|eyJ|rt1\.|whsec/);
      if (item !== '') expect(entry.target.endsWith(`:${item}`)).toBe(true);
      if (name !== '') expect(Object.values(entry.detail)).toContain(name);
    },
  );

  it('names a key and the operator, and says via which application they came', async () => {
    const { body: made } = await call('POST', '/api/auth/login', { password: OPERATOR }, {});
    const host = { Authorization: `Bearer ${made.token}` };
    await call('POST', '/api/system/jobs', { name: 'letter' }, host);
    await call('POST', '/api/system/jobs', { name: 'letter' });
    const inConsole = await call(
      'POST',
      '/api/auth/login',
      { password: OPERATOR, client: 'console', delivery: 'cookie' },
      {},
    );
    const there = { Authorization: `Bearer ${inConsole.body.accessToken ?? inConsole.body.token}` };
    await call('POST', '/api/system/jobs', { name: 'letter' }, there);
    const three = await entries('?limit=3');
    expect(three.map(({ actor, via }) => [actor.replace(/:.+/, ':…'), via])).toEqual([
      ['host', 'console'],
      ['key:…', 'api'],
      ['host', 'api'],
    ]);
  });

  it('has no entry of what was refused or failed', async () => {
    const before = (await entries('?limit=1'))[0].id;
    expect((await call('POST', '/api/auth/admin/roles', { name: 'Owner' })).status).toBe(409);
    expect((await call('DELETE', '/api/auth/admin/users/999999')).status).toBe(404);
    expect((await call('POST', '/api/system/jobs', { name: 'letter' }, {})).status).toBe(401);
    expect((await entries('?limit=1'))[0].id).toBe(before);
  });

  it('is written with the change or not at all', async () => {
    const { db } = server.kernel.store;
    await db.schema.alterTable('twofold_audit').renameTo('away').execute();
    const made = await call('POST', '/api/auth/admin/roles', { name: 'Halfway' });
    await db.schema.alterTable('away').renameTo('twofold_audit').execute();
    expect(made.status).toBe(500);
    const { body } = await call('GET', '/api/auth/admin/roles');
    expect(body.roles.map(({ name }: { name: string }) => name)).not.toContain('Halfway');
  });
});
