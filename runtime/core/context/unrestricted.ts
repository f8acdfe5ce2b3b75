import type { Principal } from './request-context.ts';

const UNRESTRICTED = new WeakSet<Principal>();

/** A copy of the caller for whom no access rules apply. */
export function unrestricted(principal: Principal): Principal {
  const copy = { ...principal };
  UNRESTRICTED.add(copy);
  return copy;
}

export const isUnrestricted = (principal: Principal): boolean =>
  principal.kind === 'system' || UNRESTRICTED.has(principal);
