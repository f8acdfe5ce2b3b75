import type { BoundRoute } from '../http/route.ts';
import { addressKey } from './caller.ts';
import type { PolicyName } from './defaults.ts';
import type { Limit, RateLimits } from './rate-limits.ts';

/** Policies of single routes, besides `auth-ip`, which all of them have. Each counts an address. */
const POLICIES: Readonly<Record<string, readonly PolicyName[]>> = {
  login: ['login-ip'],
  register: ['register-ip'],
  setup: ['register-ip'],
  forgotPassword: ['forgot-ip'],
  resendVerification: ['forgot-ip'],
  resetPassword: ['reset-ip'],
  verifyEmail: ['reset-ip'],
  unlock: ['reset-ip'],
  refresh: ['refresh-ip'],
  passwordStrength: ['strength-ip'],
  oauthStart: ['oauth-ip'],
  oauthStartOfPage: ['oauth-ip'],
  oauthCallback: ['oauth-ip'],
  oauthIdToken: ['oauth-ip'],
  oauthExchange: ['oauth-ip'],
};

/** Puts the address limits in front of a handler. Failed logins are only looked at here: they are charged when they fail. */
export function limited(limits: RateLimits, { spec, handle }: BoundRoute): BoundRoute {
  const policies = ['auth-ip', ...(POLICIES[spec.id] ?? [])];
  return {
    spec,
    handle: async (call) => {
      const subject = addressKey(call.context.ip);
      const entries: Limit[] = policies.map((policy) => ({ policy, subject }));
      if (spec.id === 'login') entries.push({ policy: 'login-failed-ip', subject, peek: true });
      await limits.enforce(call.koa, entries);
      return handle(call);
    },
  };
}
