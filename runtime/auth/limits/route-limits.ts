import type { BoundRoute, Call } from '@twofold/runtime/http';
import { addressKey } from '../requests/caller.ts';
import { hostDevice } from '../sign-in/host-login.ts';
import type { AuthParts } from '../parts.ts';
import type { Limit } from './rate-limits.ts';

/**
 * Enforces the limits by IP address before a handler: `auth-ip` and those of the flow. The limits of failed logins are only checked
 * here, and charged when a login fails.
 */
export function limited(parts: AuthParts, { spec, handle }: BoundRoute): BoundRoute {
  const { id, limits = [] } = spec;
  const policies = ['auth-ip', ...limits];
  return {
    spec,
    handle: async (call) => {
      const subject =
        (id === 'login' && operatorDevice(parts, call)) || addressKey(call.context.ip);
      const entries: Limit[] = policies.map((policy) => ({ policy, subject }));
      if (id === 'login') entries.push({ policy: 'login-failed-ip', subject, peek: true });
      await parts.limits.enforce(call.koa, entries);
      return handle(call);
    },
  };
}

/** The operator's device has its own limit, so clients behind the same proxy cannot use it up. */
const operatorDevice = (parts: AuthParts, { koa, body }: Call): string | null =>
  body.email ? null : hostDevice(parts, koa);
