import type { Principal } from '../context/request-context.ts';

/**
 * How the log names a caller: `user:1`, `key:<id>`, `host`. An administrator who acts as a user is
 * the actor of what they do.
 */
export function actorOf(principal: Principal): string {
  if (principal.kind === 'user') return `user:${principal.impersonator ?? principal.id}`;
  if (principal.kind === 'api_key') return `key:${principal.id}`;
  return principal.kind;
}

/** The application that the caller's session was opened for; `api` without one. */
export const viaOf = (principal: Principal): string =>
  ('client' in principal ? principal.client : undefined) ?? 'api';
