import { auth } from '../../runtime/auth/auth.ts';
import type { AuthFunctions } from '../../runtime/auth/auth-hooks.ts';
import type { Auth } from '../../runtime/auth/own/auth-api.ts';
import type { Plugin } from '../../runtime/core/plugin.ts';
import type { Running } from '../../runtime/core/running.ts';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase } from '../engines/available.ts';
import { GOOD, SECRET } from './server.ts';

const SCHEMA = `
  type User { id: ID! email: String! username: String bio: String profile: Profile }
  type Profile { id: ID! text: String! user: User! }
  type Query { profiles: [Profile!]! @auth(allow: [USER]) }
  type Mutation {
    attempt(email: String!, password: String!): Boolean @auth(allow: [PUBLIC])
    call(function: String!, body: String!): Boolean @auth(allow: [PUBLIC])
  }
  type Subscription { profileCreated: Profile! @auth(allow: [USER]) }
`;

const ends: (() => Promise<unknown>)[] = [];

/** Ends the servers of a test. */
export async function closeServers(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end();
}

export interface OwnOptions {
  readonly functions?: AuthFunctions;
  readonly plugin?: Partial<Plugin>;
  readonly manifest?: string;
  /** The part of the manifest below `auth:`. */
  readonly auth?: string;
  readonly database?: 'sqlite' | 'postgres';
}

/** Starts a server with `auth:` and the project's own code. */
export async function serve(options: OwnOptions) {
  const { functions = {}, plugin, manifest = '', auth: part = '{}', database } = options;
  const made = database === 'postgres' ? await createDatabase() : null;
  if (made) ends.push(made.drop);
  const lines: string[] = [];
  const running: Running = await createServer()
    .schema(SCHEMA, `name: own\nauth: ${part}\n${manifest}`)
    .with(auth(functions))
    .plugin({ name: 'own', ...plugin })
    .start('127.0.0.1:0', {
      env: {
        DATABASE_URL: made?.url ?? ':memory:',
        JWT_SECRET: SECRET,
        APP_URL: 'http://own.example',
      },
      logTo: { write: (line) => void lines.push(line) },
    });
  ends.push(() => running.close());
  const call = async (request: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = 'GET', path = ''] = request.split(' ');
    const answer = await fetch(running.url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json');
    return { status: answer.status, body: isJson ? JSON.parse(text) : text };
  };
  const register = (email: string, more: object = {}) =>
    call('POST /api/auth/register', { email, password: GOOD, ...more });
  return { url: running.url, lines, call, register };
}

export const authOf = (ctx: { readonly auth: unknown }) => ctx.auth as Auth;

/** Ways to call ctx.auth over HTTP: the body is its argument. */
export const routes: NonNullable<Plugin['routes']> = (router) => {
  router.post('/register', (ctx) => authOf(ctx).register(ctx.request.body));
  router.post('/login', (ctx) => authOf(ctx).login(ctx.request.body));
  router.post('/refresh', (ctx) => authOf(ctx).refresh(ctx.request.body));
  router.post('/issue', (ctx) => authOf(ctx).issue(ctx.request.body.id, { method: 'badge' }));
  router.post('/verify', async (ctx) => ({
    found: await authOf(ctx).verify(ctx.request.body.token),
  }));
  router.post('/change', (ctx) =>
    authOf(ctx).changePassword(ctx.request.body.id, ctx.request.body),
  );
  router.post('/set', (ctx) =>
    authOf(ctx).setPassword(ctx.request.body.id, ctx.request.body.password),
  );
  router.post('/identity', (ctx) => authOf(ctx).setIdentity(ctx.request.body.id, ctx.request.body));
  router.post('/logout', { auth: 'user' }, (ctx) => authOf(ctx).logout());
  router.post('/logout-all', (ctx) => authOf(ctx).logoutAll(ctx.request.body.id));
  router.post('/invalidate', (ctx) => authOf(ctx).invalidateExtend(ctx.request.body.id));
  router.post('/disable', (ctx) => authOf(ctx).disable(ctx.request.body.id));
  router.post('/enable', (ctx) => authOf(ctx).enable(ctx.request.body.id));
  router.get('/me', { auth: 'user' }, (ctx) => ({ id: ctx.user?.id }));
  router.post('/me', { auth: 'user' }, (ctx) => ({ id: ctx.user?.id }));
};
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
