import { authRoutes, identityWrites, identityWriteText, type AuthModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { type BoundRoute, type Handler, bindRoutes } from '@twofold/runtime/http';
import type { Kernel, ServerModule } from '@twofold/runtime/kernel';
import { accessTokens, hostTokens } from './access-token.ts';
import { accountHandlers } from './account.ts';
import { administer, type Administered, type Administration } from './administration.ts';
import { adminHandlers } from './admin/handlers.ts';
import { createAlerts } from './alerts.ts';
import { createBackground } from './background.ts';
import { createApiKeys } from './api-keys.ts';
import type { AuthHooks } from './auth-hooks.ts';
import { authenticate } from './authenticate.ts';
import { SYSTEM } from './caller.ts';
import { readAuthConfig } from './config.ts';
import { dataScopes } from './data-scopes.ts';
import { DEFAULT_AUTH } from './defaults.ts';
import { createDeviceTokens } from './device-token.ts';
import type { Listeners } from './event-types.ts';
import { createEvents, type Events, type Outbox } from './events.ts';
import type { Extend } from './extend.ts';
import { createGuards } from './guards.ts';
import { createHostLogin } from './host-login.ts';
import { createKeys, type Keys } from './keys.ts';
import { createLockout } from './lockout.ts';
import { createLogin } from './login.ts';
import { logoutHandlers } from './logout.ts';
import { createMailer } from './mail.ts';
import { startNotices } from './notices.ts';
import { oauthHandlers } from './oauth/handlers.ts';
import { createOneTimeTokens } from './one-time-tokens.ts';
import { ownKeyHandlers } from './own-keys.ts';
import type { AuthParts } from './parts.ts';
import { type Breached, createPasswordPolicy } from './password-policy.ts';
import { createPasswords } from './passwords.ts';
import { memoryWindows } from './limits/memory-windows.ts';
import { leasedWindows } from './limits/leased-windows.ts';
import { createRateLimits } from './limits/rate-limits.ts';
import { createRevalidation } from './revalidate.ts';
import { recoveryHandlers } from './recovery.ts';
import { createRefresh } from './refresh.ts';
import { createRegister } from './register.ts';
import { startRetention } from './retention.ts';
import { seedRoles } from './roles.ts';
import { limited } from './limits/route-limits.ts';
import { storedWindows } from './limits/stored-windows.ts';
import type { Windows } from './limits/windows.ts';
import { createSetup } from './setup.ts';
import { createSessions } from './sessions.ts';
import { createSignIn } from './sign-in.ts';
import { noteStart } from './start-notes.ts';
import { authMigrations } from './tables.ts';
import { createUserDirectory } from './user-directory.ts';
import { tieUserTable } from './user-table.ts';
import { verificationHandlers } from './verification.ts';
import { createWebhooks } from './webhooks/webhooks.ts';
import { validator } from './validator.ts';

export interface AuthOptions {
  readonly kernel: Kernel;
  /** `null`: there is no `auth:` section, and only the operator of the hosting server signs in. */
  readonly model: AuthModel | null;
  /** Whether the server hosts, and so has an operator. */
  readonly host: boolean;
  readonly extend?: Extend;
  readonly listeners?: Listeners;
  readonly hooks?: AuthHooks;
  /** A bcrypt cost below 10. For tests, which would take minutes otherwise; never for a server. */
  readonly bcryptCost?: number;
}

/** The auth module with what a program that embeds it may call. */
export interface AuthModule extends ServerModule {
  /** Subscribes to an event type or to `*`. @returns the function that unsubscribes. */
  readonly events: Pick<Events, 'on'>;
  /** What `npm run admin` does. The tables have to be there. @throws AppError that says why not. */
  administer(request: Administration): Promise<Administered>;
  /** Ends the access tokens of a user, so that the next refresh runs `extend` again: its data has changed. */
  invalidateExtend(userId: number | string): Promise<void>;
}

/** The routes that are left when only the operator signs in. */
const HOST_ROUTES = new Set(['login', 'logout', 'logoutAll', 'sessions', 'endSession']);

/**
 * The auth module: who calls, and everything under `/api/auth` and `/api/oauth`.
 *
 * Wrong settings are noted on `kernel.settings`; the server asserts them all together before it starts.
 *
 * @example createAuth({ kernel, model: project.auth, host: project.hosting !== null, extend })
 */
export function createAuth(options: AuthOptions): AuthModule {
  const parts = createParts(options);
  if (parts.users) refuseIdentityWrites(parts.kernel);
  const { kernel, model } = parts;
  const stops: (() => void | Promise<void>)[] = [];
  return {
    name: 'auth',
    events: { on: parts.events.on },
    administer: async (request) => {
      await prepareTables(parts);
      return administer(parts, request);
    },
    invalidateExtend: (userId) =>
      parts.directory.update(kernel.store.db, userId, { tokens_valid_after: kernel.now() }),
    migrations: authMigrations(model.user, kernel.project.ids),
    middleware: [authenticate(parts)],
    revalidate: createRevalidation(parts),
    guards: createGuards(parts),
    routes: createRoutes(parts, options.host),
    validator,
    start: async () => {
      if (parts.users) parts.policy.warm();
      await prepareTables(parts);
      await noteStart(parts);
      if (parts.config.weakSecrets.length > 0)
        await parts.events.emit(SYSTEM, 'config.weak_secret_allowed', null);
      await parts.webhooks.start();
      stops.push(startNotices(parts), startRetention(parts));
    },
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

/** What a start brings the database to, besides the migrations. */
async function prepareTables(parts: AuthParts): Promise<void> {
  await tieUserTable(parts.kernel, parts.model);
  await seedRoles(parts);
}

/** A model that the generator would refuse: with such a mutation one person takes the account of another. */
function refuseIdentityWrites({ project, settings }: Kernel): void {
  for (const write of identityWrites(project))
    settings.problem(
      `AUTH_COLUMN_WRITTEN: ${identityWriteText(write)}: take it out of the schema, the flows under /api/auth write it`,
    );
}

function createParts({
  kernel,
  model: given,
  host,
  bcryptCost,
  extend,
  listeners = {},
  hooks = {},
}: AuthOptions): AuthParts {
  const { store, settings, project, now } = kernel;
  const model = given ?? DEFAULT_AUTH;
  const config = readAuthConfig(settings, {
    model,
    users: given !== null,
    host,
    ...(bcryptCost !== undefined && { cost: bcryptCost }),
  });
  const keys = createKeys(config.secret, config.previousSecrets);
  const token = {
    verify: keys.verify,
    leeway: model.jwt.leeway,
    issuer: model.jwt.issuer,
    audience: model.jwt.audience,
    maxBytes: model.jwt.maxBytes,
    now,
  };
  const access = accessTokens({ ...token, sign: keys.sign });
  const directory = createUserDirectory(project, model.user, store, now);
  const sessions = createSessions(store, model, directory, now);
  const deliver: Outbox = (trx, event) => webhooks.outbox(trx, event);
  const events = createEvents(kernel, listeners, deliver);
  const webhooks = createWebhooks(kernel, config, keys, (endpoint) =>
    events.emit(SYSTEM, 'webhook.disabled', null, { endpoint_id: endpoint.id }),
  );
  events.on('*', (event) => webhooks.kick(event));
  const windows = createWindows(kernel, keys);
  const limits = createRateLimits({
    enabled: config.limitsEnabled,
    limits: model.rateLimits,
    windows,
    events,
    now,
  });
  return {
    kernel,
    model,
    config,
    keys,
    directory,
    sessions,
    events,
    webhooks,
    limits,
    hooks,
    users: given !== null,
    alerts: createAlerts(kernel, events, windows),
    identifierKey: keys.derived('identifier'),
    passwords: createPasswords({
      cost: config.bcryptCost,
      concurrency: model.password.hashConcurrency,
      queue: model.password.hashQueue,
    }),
    policy: createPasswordPolicy(model.password, [project.name], breachedBy(kernel, hooks)),
    accessTokens: access,
    hostTokens: hostTokens({
      ...token,
      sign: keys.derived('host-token'),
      verify: keys.derivedAll('host-token'),
    }),
    signIn: createSignIn({
      kernel,
      model,
      keys,
      tokens: access,
      sessions,
      directory,
      events,
      extend,
    }),
    lockout: createLockout(store, model.lockout, now),
    devices: createDeviceTokens(keys, { secure: config.secureCookies, cookie: 'device' }),
    hostDevices: createDeviceTokens(keys, { secure: config.secureCookies, cookie: 'host_device' }),
    oneTime: createOneTimeTokens(now),
    mailer: createMailer(kernel, config),
    background: createBackground(kernel.log),
    apiKeys: createApiKeys({
      store,
      directory,
      rootKey: config.apiKey,
      roles: model.roles,
      isFree: dataScopes(project),
      now,
    }),
  };
}

/** One process counts in its own memory. Several that share a database count there, and lease hits in advance. */
function createWindows({ store, settings, now, log }: Kernel, keys: Keys): Windows {
  const isAlone = store.dialect === 'sqlite' && settings.text('WORKERS', '1') === '1';
  if (isAlone) return memoryWindows();
  return leasedWindows(storedWindows(store, keys.derived('identifier')), { now, log });
}

/** The hook that knows breached passwords, as the policy asks it: undefined when there is none. */
function breachedBy(
  { store, log }: Kernel,
  { breachedPasswords }: AuthHooks,
): Breached | undefined {
  if (!breachedPasswords) return undefined;
  const ctx = { db: store.db, log };
  return async (prefix) => {
    try {
      return await breachedPasswords({ prefix, ctx });
    } catch (error) {
      log.warn(
        { stack: error instanceof Error ? error.stack : undefined },
        'the hook breachedPasswords failed: the password was taken without it',
      );
      return [];
    }
  };
}

function createRoutes(parts: AuthParts, host: boolean): BoundRoute[] {
  const routes = bindRoutes(authRoutes, {
    login: createLoginDispatch(parts, host),
    register: createRegister(parts),
    setup: createSetup(parts),
    refresh: createRefresh(parts),
    ...ownKeyHandlers(parts),
    ...logoutHandlers(parts),
    ...accountHandlers(parts),
    ...recoveryHandlers(parts),
    ...verificationHandlers(parts),
    ...oauthHandlers(parts),
    ...adminHandlers(parts),
  });
  const served = parts.users ? routes : routes.filter(({ spec }) => HOST_ROUTES.has(spec.id));
  return served.map((route) => limited(parts, route));
}

/** One path for two kinds of login: an address makes it a user's, a password alone the operator's. */
function createLoginDispatch(parts: AuthParts, host: boolean): Handler {
  const asUser = createLogin(parts);
  const asHost = createHostLogin(parts);
  return (call) => {
    const { email, password } = call.body as { email?: string; password?: string };
    if (!email && (!host || !password))
      throw failure.badRequest(host && !parts.users ? 'password is required' : 'email is required');
    if (!password) throw failure.badRequest('password is required');
    if (!email) return asHost(call);
    if (!parts.users) throw failure.unauthenticated('Invalid credentials');
    return asUser(call);
  };
}
