import type { AuthModel } from '@twofold/schema';
import type { Kernel, OwnApplication } from '@twofold/runtime/kernel';
import type { AuthFunctions } from './auth-hooks.ts';
import { createBackground } from './base/background.ts';
import { readAuthConfig } from './config.ts';
import { DEFAULT_AUTH } from './base/defaults.ts';
import { createAlerts } from './limits/alerts.ts';
import { createEvents, type Events, type Outbox } from './events/events.ts';
import { ApiKeys } from './keys/api-keys.ts';
import { dataScopes } from './keys/key-changes.ts';
import { leasedWindows } from './limits/leased-windows.ts';
import { memoryWindows } from './limits/memory-windows.ts';
import { createRateLimits } from './limits/rate-limits.ts';
import { storedWindows } from './limits/stored-windows.ts';
import type { Windows } from './limits/windows.ts';
import { createMailer } from './mails/mail.ts';
import { createMails } from './mails/mails.ts';
import { createIdTokens } from './oauth/id-token.ts';
import { configuredProviders, createProviders } from './oauth/providers.ts';
import { breachedBy } from './passwords/breached-passwords.ts';
import { createPasswordPolicy } from './passwords/password-policy.ts';
import { createPasswords, operatorHash } from './passwords/passwords.ts';
import { SYSTEM } from './base/caller.ts';
import { createKeys, type Keys } from './secrets/keys.ts';
import { createOneTimeTokens } from './secrets/one-time-tokens.ts';
import { accessTokens, hostTokens } from './sessions/access-token.ts';
import { Sessions } from './sessions/sessions.ts';
import { createLockout } from './limits/lockout.ts';
import type { AuthState } from './state.ts';
import { UserDirectory } from './users/user-directory.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

export interface AuthOptions extends AuthFunctions {
  readonly kernel: Kernel;
  /** `null`: there is no `auth:` section, and only the operator of the hosting server signs in. */
  readonly model: AuthModel | null;
  /** Whether this is a hosting server, which has an operator. */
  readonly host: boolean;
  /** Applications that have rules for their sign-in. */
  readonly applications?: readonly OwnApplication[];
  /** A bcrypt cost below 10. Only for tests, which would take minutes otherwise. */
  readonly bcryptCost?: number;
}

/** Makes what has state in auth. Wrong settings are reported to `kernel.settings`. */
export function createState(options: AuthOptions): AuthState {
  const { kernel, hooks = {}, extend } = options;
  const { store, settings, project, now, log } = kernel;
  const model = options.model ?? DEFAULT_AUTH;
  const users = options.model !== null;
  const config = readAuthConfig(settings, {
    model,
    users,
    host: options.host,
    port: project.server.port,
    cost: options.bcryptCost,
  });
  const keys = createKeys(config.secret, config.previousSecrets);
  const directory = new UserDirectory(project, model.user, store, now);
  const windows = createWindows(kernel, keys);
  const reporting = createReporting(options, { keys, users, config });
  const { events } = reporting;
  const ofUsers = { store, directory: users ? directory : null, now };
  const { rateLimits: limits, roles, organizations, oauth, pages } = model;
  return {
    ...kernel,
    ...reporting,
    ...{ db: store.db, model, config, keys, directory },
    hooks: { ...hooks, extend },
    applications: new Map(options.applications?.map((each) => [each.client, each])),
    passwords: createHashing(options, model, config),
    sessions: new Sessions({ ...ofUsers, model }),
    tokens: createTokens(model, keys, now),
    oneTime: createOneTimeTokens(now),
    apiKeys: new ApiKeys({
      ...ofUsers,
      ...{ roles, organizations },
      rootKey: config.apiKey,
      isFree: dataScopes(project),
    }),
    providers: createProviders(settings, configuredProviders(oauth.providers), config.providers),
    idTokens: createIdTokens(now),
    mails: createMails({
      ...{ app: project.name, pages, log },
      own: options.mails ?? {},
      mailer: createMailer(kernel, config),
    }),
    limits: createRateLimits({ enabled: config.limitsEnabled, limits, windows, events, kernel }),
    lockout: createLockout(store, model.lockout, now),
    alerts: createAlerts(kernel, events, windows),
    background: createBackground(log),
  };
}

/**
 * Creates events and webhooks together, because they depend on each other: an event is written to
 * the outbox of webhooks, and disabling an endpoint emits an event.
 */
function createReporting(
  { kernel, listeners = {} }: AuthOptions,
  { keys, users, config }: Pick<AuthState, 'keys' | 'config'> & { readonly users: boolean },
): Pick<AuthState, 'events' | 'webhooks'> {
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

function createTokens({ jwt }: AuthModel, keys: Keys, now: () => number): AuthState['tokens'] {
  const { leeway, issuer, audience, maxBytes } = jwt;
  const common = { leeway, issuer, audience, maxBytes, now };
  const signedBy = (purpose: 'host-token' | 'pages') => ({
    ...common,
    sign: keys.derived(purpose),
    verify: keys.derivedAll(purpose),
  });
  return {
    user: accessTokens({ ...common, sign: keys.sign, verify: keys.verify }),
    host: hostTokens(signedBy('host-token')),
    pages: accessTokens(signedBy('pages')),
  };
}

function createHashing(
  { kernel, hooks = {} }: AuthOptions,
  { password }: AuthModel,
  { bcryptCost: cost, host }: AuthState['config'],
): AuthState['passwords'] {
  const { hashConcurrency: concurrency, hashQueue: queue } = password;
  const breached = breachedBy(kernel, password, hooks);
  const passwords = createPasswords({ cost, concurrency, queue });
  return {
    ...passwords,
    operator: operatorHash(host, passwords),
    ...createPasswordPolicy(password, [kernel.project.name], breached),
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
