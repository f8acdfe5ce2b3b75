import type { KeyObject } from 'node:crypto';
import type { AuthModel } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import type { AccessClaims, HostClaims, Tokens } from './access-token.ts';
import type { Alerts } from './alerts.ts';
import type { ApiKeys } from './api-keys.ts';
import type { AuthConfig } from './config.ts';
import type { DeviceTokens } from './device-token.ts';
import type { Events } from './events.ts';
import type { Keys } from './keys.ts';
import type { Lockout } from './lockout.ts';
import type { Mailer } from './mail.ts';
import type { OneTimeTokens } from './one-time-tokens.ts';
import type { PasswordPolicy } from './password-policy.ts';
import type { Passwords } from './passwords.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Sessions } from './sessions.ts';
import type { SignIn } from './sign-in.ts';
import type { Account, UserDirectory } from './user-directory.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/**
 * Asked after a correct password and before a session exists. A text denies the login with 403 and that text; a throw
 * denies it too.
 */
export type LoginHook = (
  account: Account,
  request: Pick<RequestContext, 'id' | 'ip' | 'headers'>,
) => string | void | null | Promise<string | void | null>;

/** What the handlers of the module work with: made once in `create-auth.ts`. */
export interface AuthParts {
  readonly kernel: Kernel;
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
  readonly oneTime: OneTimeTokens;
  readonly mailer: Mailer;
  readonly apiKeys: ApiKeys;
  readonly webhooks: Webhooks;
  readonly onLogin: LoginHook | undefined;
  /** Whether there is an `auth:` section; without one only the operator signs in. */
  readonly users: boolean;
}
