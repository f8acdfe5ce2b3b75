import type { RequestContext } from '../context/request-context.ts';

/** A text that is the same for all requests of one caller. */
export function callerKey({ principal, ip }: RequestContext): string {
  if (principal.kind === 'user' || principal.kind === 'api_key')
    return `${principal.kind} ${principal.id}`;
  return principal.kind === 'host' ? 'host' : `ip ${ip}`;
}
