import {
  identityWrites,
  identityWriteText,
  isAuthRouteServed,
  type RouteSpec,
} from '@twofold/schema';
import { bindFlows, type BoundRoute, type Call } from '@twofold/runtime/http';
import { addServices, type Kernel, type ServerModule } from '@twofold/runtime/kernel';
import { administer, type Administered, type Administration } from './setup/administration.ts';
import { guardUserRows } from './admin/user-rows.ts';
import { authenticate } from './requests/authenticate.ts';
import { addressKey, SYSTEM } from './base/caller.ts';
import type { Events } from './events/events.ts';
import { createFlowCalls } from './requests/flow-calls.ts';
import { createGuards } from './requests/guards.ts';
import { startNotices } from './setup/notices.ts';
import { createAuthApi } from './own/auth-api.ts';
import { principalOf } from './requests/credentials.ts';
import { createPages } from './pages/create-pages.ts';
import type { AuthState } from './state.ts';
import { createRevalidation } from './requests/revalidate.ts';
import { startRetention } from './setup/retention.ts';
import { seedRoles } from './users/roles.ts';
import { takeSeededUsers } from './users/seeded-users.ts';
import { authFlows } from './flows/index.ts';
import type { Limit } from './limits/rate-limits.ts';
import { hostDevice } from './limits/identifier.ts';
import { sessionMetrics } from './sessions/session-metrics.ts';
import { type EntryLink, linkTo } from './sign-in/host-login.ts';
import { atPort, noteStart } from './setup/start-notes.ts';
import { authMigrations } from './migrations.ts';
import { tieUserTable } from './users/user-table.ts';
import { followOrganizations } from './organizations/first-member.ts';
import { validator } from './base/validator.ts';
import { type AuthOptions, createState } from './create-state.ts';

export type { AuthOptions };

/** The auth module, with methods for a program that embeds it. */
export interface AuthModule extends ServerModule {
  /** Subscribes to an event type or to `*`. @returns the function that unsubscribes. */
  readonly events: Pick<Events, 'on'>;
  /** Runs a command of `npm run admin`, after the migrations. @throws AppError on a refusal. */
  administer(request: Administration): Promise<Administered>;
  /** Makes a link that signs the operator in to an application, once, within ten minutes. */
  linkTo(client: string): Promise<EntryLink>;
  /** Ends a user's access tokens after data of `extend` has changed. A refresh calls `extend`. */
  invalidateExtend(userId: number | string): Promise<void>;
}

/**
 * The auth module: it authenticates each request and serves `/api/auth` and `/api/oauth`.
 *
 * Wrong settings are reported to `kernel.settings`, and the server lists them all before it starts.
 *
 * @example createAuth({ kernel, model: project.auth, host: project.hosting !== null, extend })
 */
export function createAuth(options: AuthOptions): AuthModule {
  const auth = createState(options);
  if (auth.config.users) refuseIdentityWrites(auth);
  followOrganizations(auth);
  guardUserRows(auth);
  takeSeededUsers(auth, () => prepareTables(auth));
  const guards = createGuards(auth);
  const stops: (() => void | Promise<void>)[] = [];
  const routes = createRoutes(auth);
  // Without `auth:` only the operator signs in, and no code of the project does.
  if (auth.config.users)
    addServices(auth.store, {
      auth: createAuthApi(auth, {
        limited: createFlowCalls(routes),
        free: createFlowCalls(createRoutes(withoutLimits(auth))),
      }),
      principalOf: (userId) => principalOf(auth, userId),
    });
  return {
    name: 'auth',
    events: { on: auth.events.on },
    administer: async (request) => {
      await prepareTables(auth);
      return administer(auth, request);
    },
    linkTo: (client) => linkTo(auth, client),
    invalidateExtend: (userId) =>
      auth.directory.update(auth.db, userId, { tokens_valid_after: auth.now() }),
    migrations: authMigrations(auth.model.user, auth.project.ids, auth.config.users),
    passing: ['auth_limit_windows'],
    middleware: [authenticate(auth)],
    revalidate: createRevalidation(auth),
    guards,
    routes,
    enforceRate: (koa, { policy, subject, count, window }) =>
      auth.limits.enforce(koa, [{ policy, subject, rate: { count, window } }]),
    ...createPages(auth, createFlowCalls(routes, guards), options.texts),
    validator,
    ...(auth.metrics && { metrics: (context) => sessionMetrics(auth, context) }),
    start: async () => {
      if (auth.config.users) auth.passwords.warm();
      await prepareTables(auth);
      if (auth.config.weakSecrets.length > 0)
        await auth.events.emit(SYSTEM, 'config.weak_secret_allowed', null);
      if (auth.config.users) await auth.webhooks.start();
      stops.push(startNotices(auth), startRetention(auth));
    },
    listening: (port) => noteStart(atPort(auth, port)),
    stop: async () => {
      for (const stop of stops.splice(0)) await stop();
      await auth.background.settled();
      await auth.alerts.settled();
      await auth.events.settled();
      await auth.mails.drain(5000);
      await auth.webhooks.stop(5000);
      await auth.limits.close();
    },
  };
}

/** Code that no request calls has no client whose calls could be counted. */
const withoutLimits = (auth: AuthState): AuthState => ({
  ...auth,
  limits: { ...auth.limits, enforce: () => undefined },
});

/** Prepares the database at a start, after the migrations. */
async function prepareTables(auth: AuthState): Promise<void> {
  if (!auth.config.users) return;
  await tieUserTable(auth, auth.model);
  await seedRoles(auth);
}

/**
 * Reports the mutations that write identity columns of the user table: with one of them a user
 * could take over another account. The generator refuses them too, but a server can also be given a
 * schema at run time.
 */
function refuseIdentityWrites({ project, settings }: Kernel): void {
  for (const write of identityWrites(project))
    settings.problem(
      `AUTH_COLUMN_WRITTEN: ${identityWriteText(write)}: take it out of the schema, the flows under /api/auth write it`,
    );
}

const createRoutes = (auth: AuthState): BoundRoute[] =>
  bindFlows(authFlows, auth)
    .filter(({ spec }) => isServed(auth, spec))
    .map((route) => limited(auth, route));

function isServed(auth: AuthState, route: RouteSpec): boolean {
  if (!isAuthRouteServed(route, auth.config.users ? auth.model : null, auth.applications.size > 0))
    return false;
  return auth.config.passkeys !== null || !route.path.startsWith('/api/auth/passkeys');
}

/**
 * Enforces the limits by IP address before a handler: `auth-ip` and those of the flow. The limits of failed logins are only checked
 * here, and charged when a login fails.
 */
function limited(auth: AuthState, { spec, handle }: BoundRoute): BoundRoute {
  const { id, limits = [] } = spec;
  const policies = ['auth-ip', ...limits];
  return {
    spec,
    handle: async (call) => {
      const subject = (id === 'login' && operatorDevice(auth, call)) || addressKey(call.context.ip);
      const entries: Limit[] = policies.map((policy) => ({ policy, subject }));
      if (id === 'login') entries.push({ policy: 'login-failed-ip', subject, peek: true });
      await auth.limits.enforce(call.koa, entries);
      return handle(call);
    },
  };
}

/** The operator's device has its own limit, so clients behind the same proxy cannot use it up. */
const operatorDevice = (auth: AuthState, { koa, body }: Call): string | null =>
  body.email ? null : hostDevice(auth, koa);
