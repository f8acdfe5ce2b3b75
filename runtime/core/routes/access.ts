import type { RequestContext } from '../context/request-context.ts';
import { hasScope } from '../context/scopes.ts';
import { failure } from '../errors.ts';
import type { RouteAccess } from './types.ts';

/**
 * @throws AppError 401 for a caller who is not signed in, 403 for one who may not call the route.
 */
export function assertAccess({ principal, user }: RequestContext, access: RouteAccess): void {
  if (principal.kind === 'anonymous') throw failure.unauthenticated();
  if (access === 'user') {
    if (!user) throw failure.forbidden();
  } else if ('roles' in access) {
    if (!user?.role || !access.roles.includes(user.role.name)) throw failure.forbidden();
  } else if (!hasScope(heldBy(principal), access.scope)) throw failure.forbidden();
}

function heldBy(principal: RequestContext['principal']): readonly string[] {
  if (principal.kind === 'user') return principal.permissions;
  if (principal.kind === 'host') return principal.permissions ?? [];
  return principal.kind === 'api_key' ? principal.scopes : [];
}
