import { createClient } from 'graphql-ws';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Middleware } from 'koa';
import { auth } from '@twofold/auth';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase } from '../engines/available.ts';
import { databases, projectOf } from './harness.ts';

const SDL = `
  type User { id: ID! name: String! email: String! @unique }
  type Note @auth(allow: [USER, API_KEY]) { id: ID! text: String! }
  type Query { notes: [Note!]! }
  type Mutation { createNote(text: String!): Note! }
  type Subscription { noteCreated: Note! }
`;
const MANIFEST = 'name: test\nauth: { roles: { list: [admin, member, guest], default: member } }\n';
const ROOT = 'root-key-of-the-tests-0123456789';
const PASSWORD = 'correct horse battery staple';
const SUBSCRIPTION = 'subscription { noteCreated { text } }';

interface Node {
  readonly url: string;
  call(method: string, path: string, body?: unknown, headers?: object): Promise<any>;
  close(): Promise<void>;
}

/** One server of several over one database, with its own clock. */
async function startNode(
  url: string,
  options: { readonly clock?: { offset: number }; readonly middleware?: Middleware } = {},
): Promise<Node> {
  const server = createServer({ project: projectOf(SDL, MANIFEST), capabilities: [auth()] });
  if (options.middleware) server.use(options.middleware);
  const running = await server.start('127.0.0.1:0', {
    env: {
      DATABASE_URL: url,
      JWT_SECRET: 'a test secret that is long enough to be one',
      API_KEY: ROOT,
      RATE_LIMIT_ENABLED: 'false',
      LOG_LEVEL: 'silent',
    },
    now: () => Date.now() + (options.clock?.offset ?? 0),
  });
  return {
    url: running.url,
    close: () => running.close(),
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(running.url + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect([path, response.status < 400, text]).toEqual([path, true, text]);
      return text ? JSON.parse(text) : undefined;
    },
  };
}

type Headers = Record<string, string>;

/** Both ways of subscribing for one caller: what came, and how it ended. */
async function subscribe({ url }: Node, headers: Headers) {
  const heard = { events: [] as string[], socketClosed: 0, streamEnded: false, stream: '' };
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => {},
    connectionParams: headers,
    on: { closed: (event) => void (heard.socketClosed = (event as { code: number }).code) },
  });
  client.subscribe<any>(
    { query: SUBSCRIPTION },
    {
      next: ({ data }) => void heard.events.push(data?.['noteCreated'].text),
      error: () => {},
      complete: () => {},
    },
  );
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query: SUBSCRIPTION }),
  });
  expect(response.headers.get('content-type')).toContain('event-stream');
  void (async () => {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream()))
      heard.stream += text;
    heard.streamEnded = true;
  })();
  return heard;
}

type Heard = Awaited<ReturnType<typeof subscribe>>;

const REFUSED = /event: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/;

function expectEnded(heard: Heard): void {
  expect(heard.socketClosed).toBe(4403);
  expect(heard.streamEnded).toBe(true);
  expect(JSON.parse(REFUSED.exec(heard.stream)?.[1] ?? '{}')).toMatchObject({
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
}

const root = { 'x-api-key': ROOT };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

interface Account {
  readonly id: number;
  readonly email: string;
  readonly accessToken: string;
}

async function signUp(node: Node, name: string): Promise<Account> {
  const email = `${name.replaceAll(/\W/g, '-')}@x.test`;
  const body = await node.call('POST', '/api/auth/register', { email, name, password: PASSWORD });
  return { id: body.id, email, accessToken: body.accessToken };
}

/** What makes another caller of the one who subscribed, done on another node. */
const CHANGES: Readonly<Record<string, (node: Node, account: Account) => Promise<unknown>>> = {
  logout: (node, { accessToken }) =>
    node.call('POST', '/api/auth/logout', undefined, bearer(accessToken)),
  'all sessions revoked': (node, { id }) =>
    node.call('DELETE', `/api/auth/admin/users/${id}/sessions`, undefined, root),
  'new password': async (node, { email }) => {
    // The session that sets it goes on, all others end.
    const other = await node.call('POST', '/api/auth/login', { email, password: PASSWORD });
    const passwords = { current_password: PASSWORD, new_password: 'wrong donkey charger clip' };
    return node.call('POST', '/api/auth/change-password', passwords, bearer(other.accessToken));
  },
  disabled: (node, { id }) =>
    node.call('POST', `/api/auth/admin/users/${id}/disable`, undefined, root),
  deleted: (node, { id }) => node.call('DELETE', `/api/auth/admin/users/${id}`, undefined, root),
  'other role': async (node, { id }) => {
    const roles = await node.call('GET', '/api/auth/admin/roles', undefined, root);
    const list = roles.roles ?? roles.data ?? roles;
    const { id: role_id } = list.find(({ name }: { name: string }) => name === 'guest');
    return node.call('PUT', `/api/auth/admin/users/${id}/role`, { role_id }, root);
  },
};

const note = (node: Node, text: string) =>
  node.call('POST', '/graphql', { query: `mutation { createNote(text: "${text}") { id } }` }, root);

/** Two nodes over one PostgreSQL, and one node over a file. */
async function startNodes(database: string, clock: { offset: number }) {
  if (database === 'sqlite') {
    const node = await startNode(':memory:', { clock });
    return { here: node, there: node, close: () => node.close() };
  }
  const made = await createDatabase();
  const here = await startNode(made.url, { clock });
  const there = await startNode(made.url, { clock });
  return {
    here,
    there,
    close: async () => {
      await here.close();
      await there.close();
      await made.drop();
    },
  };
}

describe.each(databases)('a subscription whose caller changed, on %s', (database) => {
  it('gets no event from the change on, and ends', { timeout: 60_000 }, async () => {
    const clock = { offset: 0 };
    const { here, there, close } = await startNodes(database, clock);
    try {
      const everyone: Record<string, { account: Account; heard: Heard }> = {};
      for (const name of [...Object.keys(CHANGES), 'nothing', 'token at its end']) {
        const account = await signUp(here, name);
        everyone[name] = { account, heard: await subscribe(here, bearer(account.accessToken)) };
      }
      const key = await there.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'reader', scopes: ['notes:read'] },
        root,
      );
      const byKey = await subscribe(here, { 'x-api-key': key.api_key ?? key.key });
      const all = () => [...Object.values(everyone).map(({ heard }) => heard), byKey];
      await new Promise((resolve) => setTimeout(resolve, 500));
      await note(there, 'before');
      await vi.waitFor(
        () => all().forEach((heard) => expect(heard.events).toEqual(['before'])),
        10_000,
      );
      for (const [name, change] of Object.entries(CHANGES))
        await change(there, everyone[name]!.account);
      await there.call('DELETE', `/api/auth/admin/api-keys/${key.id}`, undefined, root);
      await note(there, 'after');
      const changed = [...Object.keys(CHANGES).map((name) => everyone[name]!.heard), byKey];
      await vi.waitFor(() => changed.forEach(expectEnded), 10_000);
      const same = [everyone['nothing']!.heard, everyone['token at its end']!.heard];
      await vi.waitFor(
        () => same.forEach(({ events }) => expect(events).toEqual(['before', 'after'])),
        10_000,
      );
      clock.offset += 25 * 3_600_000;
      await note(there, 'a day later');
      await vi.waitFor(() => same.forEach(expectEnded), 10_000);
      for (const { events, stream } of all()) {
        expect(events).not.toContain('a day later');
        expect(stream).not.toContain('a day later');
      }
      for (const { events, stream } of changed) {
        expect(events).toEqual(['before']);
        expect(stream).not.toContain('after');
      }
    } finally {
      await close();
    }
  });
});

describe.concurrent.each(databases)('a subscription that gets no events, on %s', (database) => {
  it('ends within 30 s when its caller changed', { timeout: 60_000 }, async ({ expect }) => {
    const { here, there, close } = await startNodes(database, { offset: 0 });
    try {
      const account = await signUp(here, 'idle');
      const stays = await subscribe(here, bearer((await signUp(here, 'stays')).accessToken));
      const heard = await subscribe(here, bearer(account.accessToken));
      await new Promise((resolve) => setTimeout(resolve, 500));
      await CHANGES['logout']!(there, account);
      const since = performance.now();
      await vi.waitFor(() => expectEnded(heard), { timeout: 40_000, interval: 100 });
      expect(performance.now() - since).toBeLessThan(30_000);
      expect([stays.socketClosed, stays.streamEnded]).toEqual([0, false]);
    } finally {
      await close();
    }
  });
});

describe('a caller whom middleware of the project names', () => {
  it('is looked at by that middleware before each event', async () => {
    const banned = new Set<string>();
    const middleware: Middleware = (ctx, next) => {
      const name = ctx.get('x-api-key') || ctx.get('authorization').replace('Bearer ', '');
      if (banned.has(name)) ctx.throw(403, 'No entry');
      return next();
    };
    const node = await startNode(':memory:', {
      middleware: async (ctx, next) => {
        ctx.state.context.principal = { kind: 'api_key', id: 'own', scopes: ['*'], userId: null };
        return middleware(ctx, next);
      },
    });
    try {
      const { accessToken } = await signUp(node, 'someone');
      const heard = await subscribe(node, bearer(accessToken));
      await new Promise((resolve) => setTimeout(resolve, 300));
      await note(node, 'before');
      await vi.waitFor(() => expect(heard.events).toEqual(['before']), 10_000);
      banned.add(accessToken);
      await note(node, 'after');
      await vi.waitFor(() => expectEnded(heard), 10_000);
      expect(heard.events).toEqual(['before']);
    } finally {
      await node.close();
    }
  });
});
