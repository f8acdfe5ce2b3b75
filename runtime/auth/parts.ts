import type { KeyObject } from 'node:crypto';
import type { AuthModel } from '@twofold/schema';
import type { OwnApplication } from '@twofold/runtime/kernel';
import type { AccessClaims, HostClaims, Tokens } from './sessions/access-token.ts';
import type { Alerts } from './events/alerts.ts';
import type { Background } from './background.ts';
import type { ApiKeys } from './keys/api-keys.ts';
import type { AuthHooks } from './auth-hooks.ts';
import type { AuthConfig } from './config.ts';
import type { DeviceTokens } from './sign-in/device-token.ts';
import type { Events } from './events/events.ts';
import type { Keys } from './secrets/keys.ts';
import type { Lockout } from './sign-in/lockout.ts';
import type { Mailer } from './mails/mail.ts';
import type { Mails } from './mails/mails.ts';
import type { IdTokens } from './oauth/id-token.ts';
import type { Providers } from './oauth/providers.ts';
import type { OneTimeTokens } from './secrets/one-time-tokens.ts';
import type { PasswordPolicy } from './passwords/password-policy.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { SignIn } from './sessions/sign-in.ts';
import type { AuthKernel } from './tables.ts';
import type { UserDirectory } from './users/user-directory.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** The dependencies of the handlers, created once in `create-parts.ts`. */
export interface AuthParts {
  readonly kernel: AuthKernel;
  readonly model: AuthModel;
  readonly config: AuthConfig;
  readonly keys: Keys;
  readonly identifierKey: KeyObject;
  readonly passwords: Passwords;
  readonly policy: PasswordPolicy;
  readonly accessTokens: Tokens<AccessClaims>;
  readonly hostTokens: Tokens<HostClaims>;
  readonly sessions: Sessions;
  readonly directory: UserDirectory;
  readonly signIn: SignIn;
  readonly events: Events;
  readonly limits: RateLimits;
  readonly alerts: Alerts;
  readonly lockout: Lockout;
  readonly devices: DeviceTokens;
  /** Device tokens of the operator of the hosting server. */
  readonly hostDevices: DeviceTokens;
  readonly oneTime: OneTimeTokens;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly background: Background;
  readonly apiKeys: ApiKeys;
  readonly webhooks: Webhooks;
  readonly hooks: AuthHooks;
  /** Applications of the server's own origin that have rules for their sign-in, by client. */
  readonly applications: ReadonlyMap<string, OwnApplication>;
  /** Whether the manifest has an `auth:` section. Without it only the operator signs in. */
  readonly users: boolean;
  /** Whether an operator signs in with `HOST_PASSWORD`. */
  readonly host: boolean;
  /** The hash of `HOST_PASSWORD`. */
  readonly hostPassword: () => Promise<string>;
  readonly providers: Providers;
  readonly idTokens: IdTokens;
}
