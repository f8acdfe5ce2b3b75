import {
  identityWrites,
  isAuthRouteServed,
  identityWriteText,
  type RouteSpec,
} from '@twofold/schema';
import { bindFlows, type BoundRoute } from '@twofold/runtime/http';
import { addServices, type Kernel, type ServerModule } from '@twofold/runtime/kernel';
import { administer, type Administered, type Administration } from './setup/administration.ts';
import { guardUserRows } from './admin/user-rows.ts';
import { authenticate } from './requests/authenticate.ts';
import { SYSTEM } from './requests/caller.ts';
import type { Events } from './events/events.ts';
import { createGuards } from './requests/guards.ts';
import { startNotices } from './events/notices.ts';
import { type AuthRoutes, createAuthApi } from './own/auth-api.ts';
import { principalOf } from './own/credentials.ts';
import { createPages } from './pages/create-pages.ts';
import type { AuthParts } from './parts.ts';
import { createRevalidation } from './requests/revalidate.ts';
import { startRetention } from './events/retention.ts';
import { seedRoles } from './users/roles.ts';
import { takeSeededUsers } from './users/seeded-users.ts';
import { authFlows } from './flows/index.ts';
import { limited } from './limits/route-limits.ts';
import { sessionMetrics } from './sessions/session-metrics.ts';
import { type EntryLink, linkTo } from './setup/host-link.ts';
import { atPort, noteStart } from './setup/start-notes.ts';
import { authMigrations } from './migrations.ts';
import { tieUserTable } from './users/user-table.ts';
import { followOrganizations } from './organizations/first-member.ts';
import { validator } from './validator.ts';
import { type AuthOptions, createParts } from './create-parts.ts';

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
  const parts = createParts(options);
  if (parts.users) refuseIdentityWrites(parts.kernel);
  followOrganizations(parts);
  guardUserRows(parts);
  takeSeededUsers(parts, () => prepareTables(parts));
  const { kernel, model } = parts;
  const guards = createGuards(parts);
  const stops: (() => void | Promise<void>)[] = [];
  const routes = createRoutes(parts);
  addOwnServices(parts, {
    limited: routes,
    free: () => createRoutes(withoutLimits(parts)),
  });
  return {
    name: 'auth',
    events: { on: parts.events.on },
    administer: async (request) => {
      await prepareTables(parts);
      return administer(parts, request);
    },
    linkTo: (client) => linkTo(parts, client),
    invalidateExtend: (userId) =>
      parts.directory.update(kernel.store.db, userId, { tokens_valid_after: kernel.now() }),
    migrations: authMigrations(model.user, kernel.project.ids, parts.users),
    passing: ['auth_limit_windows'],
    middleware: [authenticate(parts)],
    revalidate: createRevalidation(parts),
    guards,
    routes,
    enforceRate: (koa, { policy, subject, count, window }) =>
      parts.limits.enforce(koa, [{ policy, subject, rate: { count, window } }]),
    ...createPages(parts, routes, { guards, texts: options.texts }),
    validator,
    ...(kernel.metrics && { metrics: (context) => sessionMetrics(kernel, context) }),
    start: async () => {
      if (parts.users) parts.policy.warm();
      await prepareTables(parts);
      if (parts.config.weakSecrets.length > 0)
        await parts.events.emit(SYSTEM, 'config.weak_secret_allowed', null);
      if (parts.users) await parts.webhooks.start();
      stops.push(startNotices(parts), startRetention(parts));
    },
    listening: (port) => noteStart(atPort(parts, port)),
    stop: async () => {
      for (const stop of stops.splice(0)) await stop();
      await parts.background.settled();
      await parts.alerts.settled();
      await parts.events.settled();
      await parts.mailer.drain(5000);
      await parts.webhooks.stop(5000);
      await parts.limits.close();
    },
  };
}

/** Adds `ctx.auth` and `ctx.as` to contexts; without `auth:` only the operator signs in. */
function addOwnServices(parts: AuthParts, routes: AuthRoutes): void {
  if (!parts.users) return;
  addServices(parts.kernel.store, {
    auth: createAuthApi(parts, routes),
    principalOf: (userId) => principalOf(parts, userId),
  });
}

/** Code that no request calls has no client whose calls could be counted. */
const withoutLimits = (parts: AuthParts): AuthParts => ({
  ...parts,
  limits: { ...parts.limits, enforce: () => undefined },
});

/** Prepares the database at a start, after the migrations. */
async function prepareTables(parts: AuthParts): Promise<void> {
  if (!parts.users) return;
  await tieUserTable(parts.kernel, parts.model);
  await seedRoles(parts);
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

const createRoutes = (parts: AuthParts): BoundRoute[] =>
  bindFlows(authFlows, parts)
    .filter(({ spec }) => isServed(parts, spec))
    .map((route) => limited(parts, route));

function isServed({ users, config, model, applications }: AuthParts, route: RouteSpec): boolean {
  if (!isAuthRouteServed(route, users ? model : null, applications.size > 0)) return false;
  return config.passkeys !== null || !route.path.startsWith('/api/auth/passkeys');
}
