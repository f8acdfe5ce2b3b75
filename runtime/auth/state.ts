import type { AuthModel } from '@twofold/schema';
import type { OwnApplication } from '@twofold/runtime/kernel';
import type { AuthHooks } from './auth-hooks.ts';
import type { Background } from './base/background.ts';
import type { AuthConfig } from './config.ts';
import type { Alerts } from './limits/alerts.ts';
import type { Events } from './events/events.ts';
import type { ApiKeys } from './keys/api-keys.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Mails } from './mails/mails.ts';
import type { IdTokens } from './oauth/id-token.ts';
import type { Providers } from './oauth/providers.ts';
import type { PasswordPolicy } from './passwords/password-policy.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { Keys } from './secrets/keys.ts';
import type { OneTimeTokens } from './secrets/one-time-tokens.ts';
import type { AccessClaims, HostClaims, Tokens } from './sessions/access-token.ts';
import type { Extend } from './sessions/extend.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Lockout } from './limits/lockout.ts';
import type { AuthKernel, Db } from './base/tables.ts';
import type { UserDirectory } from './users/user-directory.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** The kernel, and what has state in auth while the server runs. `create-state.ts` makes it. */
export interface AuthState extends AuthKernel {
  readonly db: Db;
  readonly model: AuthModel;
  readonly config: AuthConfig;
  readonly hooks: AuthHooks & { readonly extend?: Extend | undefined };
  /** Applications of the server's own origin that have rules for their sign-in, by client. */
  readonly applications: ReadonlyMap<string, OwnApplication>;
  readonly keys: Keys;
  readonly directory: UserDirectory;
  readonly passwords: Passwords & PasswordPolicy & { readonly operator: () => Promise<string> };
  readonly sessions: Sessions;
  /** Tokens of users, of the operator, and of the pages, each signed with a key of its own. */
  readonly tokens: {
    readonly user: Tokens<AccessClaims>;
    readonly host: Tokens<HostClaims>;
    readonly pages: Tokens<AccessClaims>;
  };
  readonly oneTime: OneTimeTokens;
  readonly apiKeys: ApiKeys;
  readonly providers: Providers;
  readonly idTokens: IdTokens;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly mails: Mails;
  readonly limits: RateLimits;
  readonly lockout: Lockout;
  readonly alerts: Alerts;
  readonly background: Background;
}
