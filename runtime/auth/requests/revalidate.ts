import {
  createValues,
  type Principal,
  type RequestContext,
  type RevalidateCaller,
} from '@twofold/runtime/kernel';
import type { AuthState } from '../state.ts';
import { bearerOf, keyPrincipal, readHost, readUser } from './authenticate.ts';
import { narrowed } from './narrow.ts';
import { askCredentials } from './credentials.ts';

/**
 * Reads the current principal for the credentials of an earlier request. It runs before each event
 * of a subscription, so it charges no rate limit and records no attempt.
 */
export function createRevalidation(auth: AuthState): RevalidateCaller {
  const { organizations } = auth.model;
  const current = currentPrincipal(auth);
  if (!organizations) return current;
  return async (context, options) => {
    const principal = await current(context, options);
    return principal && narrowed(organizations, principal, context.headers);
  };
}

function currentPrincipal(auth: AuthState): RevalidateCaller {
  const hasCredentials = (auth.credentials ?? []).length > 0;
  return async (context, options) => {
    const { headers, ip } = context;
    if (hasCredentials) {
      const request = { method: 'GET', path: '', headers, ip };
      const found = await askCredentials(auth, request, context).catch(() => null);
      if (found) return found.principal;
    }
    const { authorization, 'x-api-key': apiKey } = headers;
    const key = typeof apiKey === 'string' ? await ofKey(auth, apiKey) : undefined;
    if (key === null || typeof authorization !== 'string') return key ?? null;
    const token = bearerOf(authorization);
    return token === undefined ? null : bearerPrincipal(auth, token, options?.session);
  };
}

async function bearerPrincipal(
  auth: AuthState,
  token: string,
  ignoreExpiry = false,
): Promise<Principal | null> {
  const asked = { principal: { kind: 'anonymous' } as Principal, values: createValues() };
  const context = asked as unknown as RequestContext;
  const options = { ignoreExpiry };
  const known =
    (await readUser(auth, token, context, options)) ||
    (await readHost(auth, token, context, options));
  return known ? asked.principal : null;
}

async function ofKey(auth: AuthState, text: string): Promise<Principal | null> {
  const key = await auth.apiKeys.authenticate(text);
  return key && keyPrincipal(key);
}
