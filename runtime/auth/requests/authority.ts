import { hasScope, type RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { Db } from '../base/tables.ts';
import { impersonatorOf } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import { rolePermissions } from '../sessions/client.ts';
import { permissionsOf } from '../users/permissions.ts';
import type { Account } from '../users/user-directory.ts';
import { presentedKey } from './authenticate.ts';

/**
 * The permissions of the user's role or of the operator, the scopes of the key, or both if a request
 * has both.
 */
export function heldBy(context: RequestContext): readonly string[] {
  const { principal } = context;
  const permissions =
    principal.kind === 'user' || principal.kind === 'host' ? (principal.permissions ?? []) : [];
  return [...permissions, ...(presentedKey(context)?.scopes ?? [])];
}

/**
 * Refuses an administrator who acts as a user, where even the right password must not help: it would
 * make the session that of the user. @throws AppError 403
 */
export function refuseImpersonation(context: RequestContext): void {
  if (impersonatorOf(context) !== undefined) throw failure.forbidden('Reauthentication required');
}

/**
 * A caller may give only permissions that they hold, and may change only keys, roles and users that
 * hold no more than they do. Otherwise the permission to manage would include every other
 * permission.
 *
 * @throws AppError 403
 */
export function assertHolds(context: RequestContext, wanted: readonly string[]): void {
  const held = heldBy(context);
  if (!wanted.every((scope) => hasScope(held, scope))) throw failure.forbidden();
}

/**
 * Everything that a role gives its users: its rows in the database, and what applications of this
 * server give to it. Who may hand out the role must hold both.
 */
export async function rightsOf(
  auth: AuthState,
  db: Db,
  role: { readonly id: number; readonly name: string } | null,
): Promise<readonly string[]> {
  const stored = await permissionsOf(db, auth.model.roles, role);
  return role ? [...stored, ...rolePermissions(auth.applications, role.name)] : stored;
}

/**
 * Like `assertHolds`, for an account: the caller must hold every permission of its role.
 *
 * @throws AppError 403
 */
export async function assertHoldsAsMuch(
  auth: AuthState,
  db: Db,
  context: RequestContext,
  account: Account,
): Promise<void> {
  assertHolds(context, await rightsOf(auth, db, account.role));
}
