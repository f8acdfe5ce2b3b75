import type { Principal } from './request-context.ts';

/** Whether two principals are the same caller under the same rules. */
export function isSameCaller(one: Principal, other: Principal): boolean {
  return JSON.stringify(comparable(one)) === JSON.stringify(comparable(other));
}

/**
 * The database returns lists of names in any order. Who joins or leaves an organization stays
 * connected: the next event is read with the organizations of that moment.
 */
const comparable = (principal: Principal) => {
  if (principal.kind === 'user')
    return {
      ...principal,
      organizations: undefined,
      permissions: [...principal.permissions].sort(),
    };
  if (principal.kind === 'api_key')
    return { ...principal, organizations: undefined, scopes: [...principal.scopes].sort() };
  return principal;
};
