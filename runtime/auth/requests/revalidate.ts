import {
  type Principal,
  type RevalidateCaller,
  type RequestContext,
  createValues,
} from '@twofold/runtime/kernel';
import { bearerOf, keyPrincipal, readHost, readUser } from './authenticate.ts';
import { narrowed } from '../organizations/narrow.ts';
import { askCredentials } from '../own/credentials.ts';
import type { AuthParts } from '../parts.ts';

/**
 * Reads the current principal for the credentials of an earlier request. It runs before each event
 * of a subscription, so it charges no rate limit and records no attempt.
 */
export function createRevalidation(parts: AuthParts): RevalidateCaller {
  const { organizations } = parts.model;
  const current = currentPrincipal(parts);
  if (!organizations) return current;
  return async (context, options) => {
    const principal = await current(context, options);
    return principal && narrowed(organizations, principal, context.headers);
  };
}

function currentPrincipal(parts: AuthParts): RevalidateCaller {
  const hasCredentials = (parts.kernel.credentials ?? []).length > 0;
  return async (context, options) => {
    const { headers, ip } = context;
    if (hasCredentials) {
      const request = { method: 'GET', path: '', headers, ip };
      const found = await askCredentials(parts, request, context).catch(() => null);
      if (found) return found.principal;
    }
    const { authorization, 'x-api-key': apiKey } = headers;
    const key = typeof apiKey === 'string' ? await ofKey(parts, apiKey) : undefined;
    if (key === null || typeof authorization !== 'string') return key ?? null;
    const token = bearerOf(authorization);
    return token === undefined ? null : bearerPrincipal(parts, token, options?.session);
  };
}

async function bearerPrincipal(
  parts: AuthParts,
  token: string,
  ignoreExpiry = false,
): Promise<Principal | null> {
  const asked = { principal: { kind: 'anonymous' } as Principal, values: createValues() };
  const context = asked as unknown as RequestContext;
  const options = { ignoreExpiry };
  const known =
    (await readUser(parts, token, context, options)) ||
    (await readHost(parts, token, context, options));
  return known ? asked.principal : null;
}

async function ofKey({ apiKeys }: AuthParts, text: string): Promise<Principal | null> {
  const key = await apiKeys.authenticate(text);
  return key && keyPrincipal(key);
}
