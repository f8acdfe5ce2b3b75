import type { BoundRoute, Call } from '@twofold/runtime/http';
import { addressKey } from '../requests/caller.ts';
import type { PolicyName } from '../defaults.ts';
import { hostDevice } from '../sign-in/host-login.ts';
import type { AuthParts } from '../parts.ts';
import type { Limit } from './rate-limits.ts';

/** Policies of single routes, by IP address. The policy `auth-ip` applies to all routes. */
const POLICIES: Readonly<Record<string, readonly PolicyName[]>> = {
  login: ['login-ip'],
  register: ['register-ip'],
  setup: ['register-ip'],
  forgotPassword: ['forgot-ip'],
  resendVerification: ['forgot-ip'],
  resetPassword: ['reset-ip'],
  verifyEmail: ['reset-ip'],
  unlock: ['reset-ip'],
  restore: ['reset-ip'],
  secondFactor: ['login-ip'],
  emailSignIn: ['forgot-ip'],
  completeEmailSignIn: ['login-ip'],
  refresh: ['refresh-ip'],
  passwordStrength: ['strength-ip'],
  oauthStart: ['oauth-ip'],
  oauthStartOfPage: ['oauth-ip'],
  oauthCallback: ['oauth-ip'],
  oauthIdToken: ['oauth-ip'],
  oauthExchange: ['oauth-ip'],
  passkeyLoginOptions: ['login-ip'],
  passkeyLogin: ['login-ip'],
  secondFactorOptions: ['login-ip'],
};

/**
 * Enforces the limits by IP address before a handler. The limits of failed logins are only checked
 * here, and charged when a login fails.
 */
export function limited(parts: AuthParts, { spec, handle }: BoundRoute): BoundRoute {
  const policies = ['auth-ip', ...(POLICIES[spec.id] ?? [])];
  return {
    spec,
    handle: async (call) => {
      const subject =
        (spec.id === 'login' && operatorDevice(parts, call)) || addressKey(call.context.ip);
      const entries: Limit[] = policies.map((policy) => ({ policy, subject }));
      if (spec.id === 'login') entries.push({ policy: 'login-failed-ip', subject, peek: true });
      await parts.limits.enforce(call.koa, entries);
      return handle(call);
    },
  };
}

/** The operator's device has its own limit, so clients behind the same proxy cannot use it up. */
const operatorDevice = (parts: AuthParts, { koa, body }: Call): string | null =>
  body.email ? null : hostDevice(parts, koa);
