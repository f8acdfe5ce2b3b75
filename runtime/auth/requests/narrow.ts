import type { Organizations } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { Membership, Principal, RequestContext } from '@twofold/runtime/kernel';

const HEADER = 'x-organization';

type Headers = RequestContext['headers'];

/**
 * The caller with the one organization that `X-Organization` names.
 *
 * @throws AppError 403 when they are no member of it.
 */
export function narrowed(
  organizations: Organizations,
  principal: Principal,
  headers: Headers,
): Principal {
  const named = headers[HEADER];
  if (named === undefined || named === '') return principal;
  if (principal.kind !== 'user' && principal.kind !== 'api_key') return principal;
  const id = String(named)
    .replace(new RegExp(`^${organizations.entity}:`), '')
    .toLowerCase();
  const found = principal.organizations?.find((each) => String(each.id) === id);
  if (!found) throw failure.forbidden('Not a member of this organization');
  return { ...principal, organizations: [found], narrowed: true };
}

/** Narrows a request, and notes its organization for the project's own code. */
export function narrowRequest(organizations: Organizations, context: RequestContext): void {
  context.principal = narrowed(organizations, context.principal, context.headers);
  const only = onlyOrganization(context.principal);
  if (only) context.values.set('organization', only);
}

/** The organization of a request: the named one, or the caller's only one. */
function onlyOrganization(principal: Principal): Membership | undefined {
  const [first, second] = ('organizations' in principal && principal.organizations) || [];
  return second ? undefined : first;
}
