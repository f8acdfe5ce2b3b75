import type { AuthModel } from '@twofold/schema';
import type { Kernel, OwnApplication } from '@twofold/runtime/kernel';
import { accessTokens, hostTokens } from './sessions/access-token.ts';
import { createAlerts } from './events/alerts.ts';
import { ApiKeys } from './keys/api-keys.ts';
import type { AuthHooks } from './auth-hooks.ts';
import { createBackground } from './background.ts';
import { breachedBy } from './passwords/breached-passwords.ts';
import { SYSTEM } from './requests/caller.ts';
import { readAuthConfig } from './config.ts';
import { dataScopes } from './keys/data-scopes.ts';
import { DEFAULT_AUTH } from './defaults.ts';
import { createDeviceTokens } from './sign-in/device-token.ts';
import type { Listeners } from './events/event-types.ts';
import { createEvents, type Events, type Outbox } from './events/events.ts';
import type { Extend } from './sessions/extend.ts';
import { createKeys, type Keys } from './secrets/keys.ts';
import { leasedWindows } from './limits/leased-windows.ts';
import { memoryWindows } from './limits/memory-windows.ts';
import { createRateLimits } from './limits/rate-limits.ts';
import { storedWindows } from './limits/stored-windows.ts';
import type { Windows } from './limits/windows.ts';
import { hostHash } from './sign-in/host-login.ts';
import { createLockout } from './sign-in/lockout.ts';
import { createMailer } from './mails/mail.ts';
import type { OwnMails } from './mails/kinds.ts';
import { createMails } from './mails/mails.ts';
import { createIdTokens } from './oauth/id-token.ts';
import { configuredProviders, createProviders } from './oauth/providers.ts';
import { createOneTimeTokens } from './secrets/one-time-tokens.ts';
import type { AuthParts } from './parts.ts';
import type { OwnTexts } from './pages/texts.ts';
import { createPasswordPolicy } from './passwords/password-policy.ts';
import { createPasswords } from './passwords/passwords.ts';
import { Sessions } from './sessions/sessions.ts';
import { createSignIn } from './sessions/sign-in.ts';
import { UserDirectory } from './users/user-directory.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

export interface AuthOptions {
  readonly kernel: Kernel;
  /** `null`: there is no `auth:` section, and only the operator of the hosting server signs in. */
  readonly model: AuthModel | null;
  /** Whether this is a hosting server, which has an operator. */
  readonly host: boolean;
  /** Applications that have rules for their sign-in. */
  readonly applications?: readonly OwnApplication[];
  readonly extend?: Extend;
  readonly listeners?: Listeners;
  readonly hooks?: AuthHooks;
  /** Mails of the project's own, by kind. */
  readonly mails?: OwnMails;
  /** The texts of the pages, by language. */
  readonly texts?: OwnTexts;
  /** A bcrypt cost below 10. Only for tests, which would take minutes otherwise. */
  readonly bcryptCost?: number;
}

/** The parts that depend on the settings only. */
type Base = Pick<
  AuthParts,
  | 'kernel'
  | 'model'
  | 'config'
  | 'keys'
  | 'directory'
  | 'sessions'
  | 'hooks'
  | 'users'
  | 'host'
  | 'applications'
>;

/** Creates the dependencies of the handlers. */
export function createParts(options: AuthOptions): AuthParts {
  const base = createBase(options);
  const { kernel, model, config, keys, directory, sessions } = base;
  const { store, now } = kernel;
  const reporting = createReporting(base, options);
  const { events } = reporting;
  const tokens = createTokens(base);
  const windows = createWindows(kernel, keys);
  return {
    ...base,
    ...reporting,
    ...tokens,
    ...createPasswordParts(base),
    ...createProviderParts(base),
    ...createDevices(base),
    identifierKey: keys.derived('identifier'),
    limits: createRateLimits({
      enabled: config.limitsEnabled,
      limits: model.rateLimits,
      windows,
      events,
      kernel,
    }),
    alerts: createAlerts(kernel, events, windows),
    signIn: createSignIn({
      kernel,
      model,
      keys,
      tokens: tokens.accessTokens,
      sessions,
      directory,
      events,
      extend: options.extend,
      hooks: base.hooks,
      applications: base.applications,
    }),
    lockout: createLockout(store, model.lockout, now),
    oneTime: createOneTimeTokens(now),
    ...createMailParts(base, options),
    background: createBackground(kernel.log),
    apiKeys: new ApiKeys({
      store,
      directory: base.users ? directory : null,
      rootKey: config.apiKey,
      roles: model.roles,
      isFree: dataScopes(kernel.project),
      organizations: model.organizations,
      now,
    }),
  };
}

function createBase(options: AuthOptions): Base {
  const { kernel, model: given, host, bcryptCost, hooks = {}, applications = [] } = options;
  const { store, settings, project, now } = kernel;
  const model = given ?? DEFAULT_AUTH;
  const users = given !== null;
  const cost = bcryptCost === undefined ? {} : { cost: bcryptCost };
  const config = readAuthConfig(settings, {
    model,
    users,
    host,
    port: project.server.port,
    ...cost,
  });
  const directory = new UserDirectory(project, model.user, store, now);
  return {
    kernel,
    model,
    config,
    keys: createKeys(config.secret, config.previousSecrets),
    directory,
    sessions: new Sessions({ store, model, directory: users ? directory : null, now }),
    hooks,
    users,
    host,
    applications: new Map(applications.map((each) => [each.client, each])),
  };
}

/**
 * Creates events and webhooks together, because they depend on each other: an event is written to
 * the outbox of webhooks, and disabling an endpoint emits an event.
 */
function createReporting(
  { kernel, config, keys, users }: Base,
  { listeners = {} }: AuthOptions,
): Pick<AuthParts, 'events' | 'webhooks'> {
  const deliver: Outbox = async (trx, event) => {
    if (users) await webhooks.outbox(trx, event);
  };
  const events: Events = createEvents(kernel, listeners, deliver);
  const webhooks = createWebhooks(kernel, config, keys, (endpoint) =>
    events.emit(SYSTEM, 'webhook.disabled', null, { endpoint_id: endpoint.id }),
  );
  events.on('*', (event) => webhooks.kick(event));
  return { events, webhooks };
}

function createTokens({
  kernel,
  model,
  keys,
}: Base): Pick<AuthParts, 'accessTokens' | 'hostTokens'> {
  const { leeway, issuer, audience, maxBytes } = model.jwt;
  const common = { leeway, issuer, audience, maxBytes, now: kernel.now };
  return {
    accessTokens: accessTokens({ ...common, sign: keys.sign, verify: keys.verify }),
    hostTokens: hostTokens({
      ...common,
      sign: keys.derived('host-token'),
      verify: keys.derivedAll('host-token'),
    }),
  };
}

function createPasswordParts({
  kernel,
  model,
  config,
  hooks,
}: Base): Pick<AuthParts, 'passwords' | 'policy' | 'hostPassword'> {
  const { hashConcurrency: concurrency, hashQueue: queue } = model.password;
  const passwords = createPasswords({ cost: config.bcryptCost, concurrency, queue });
  return {
    passwords,
    hostPassword: hostHash(config, passwords),
    policy: createPasswordPolicy(
      model.password,
      [kernel.project.name],
      breachedBy(kernel, model.password, hooks),
    ),
  };
}

function createProviderParts({
  kernel,
  model,
  config,
}: Base): Pick<AuthParts, 'providers' | 'idTokens'> {
  const configured = configuredProviders(model.oauth.providers);
  return {
    providers: createProviders(kernel.settings, configured, config.providers),
    idTokens: createIdTokens(kernel.now),
  };
}

function createMailParts(
  { kernel, model, config }: Base,
  { mails: own = {} }: AuthOptions,
): Pick<AuthParts, 'mailer' | 'mails'> {
  const mailer = createMailer(kernel, config);
  const { project, log } = kernel;
  return {
    mailer,
    mails: createMails({ app: project.name, pages: model.pages, own, mailer, log }),
  };
}

function createDevices({ keys, config }: Base): Pick<AuthParts, 'devices' | 'hostDevices'> {
  const secure = config.secureCookies;
  return {
    devices: createDeviceTokens(keys, { secure, cookie: 'device' }),
    hostDevices: createDeviceTokens(keys, { secure, cookie: 'host_device' }),
  };
}

/**
 * A single process counts rate limits in memory. Processes that share a database count in the
 * database and lease hits in advance.
 */
function createWindows({ store, settings, now, log }: Kernel, keys: Keys): Windows {
  const isAlone = store.dialect === 'sqlite' && settings.text('WORKERS', '1') === '1';
  if (isAlone) return memoryWindows();
  return leasedWindows(storedWindows(store, keys.derived('identifier')), { now, log });
}
