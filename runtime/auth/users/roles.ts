import type { Change } from '../events/events.ts';
import type { Db, Trx } from '../base/tables.ts';
import type { Caller } from '../base/caller.ts';
import { ulid, type UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { assertOwnerLeft } from './owners.ts';
import type { Account } from './user-directory.ts';

/** Values of the column `auth_permission_changes.action`. */
export type PermissionAction =
  | 'role.assigned'
  | 'role.removed'
  | 'role.created'
  | 'role.updated'
  | 'role.deleted'
  | 'permission.granted'
  | 'permission.revoked'
  | 'api_key.created'
  | 'api_key.rotated'
  | 'api_key.revoked'
  | 'api_key.scopes_changed'
  | 'user.disabled'
  | 'user.enabled';

export interface PermissionChange {
  readonly action: PermissionAction;
  readonly target: { readonly kind: 'user' | 'role' | 'api_key'; readonly id: string | number };
  readonly before: unknown;
  readonly after: unknown;
}

/** Adds a row to the log of permission changes, in the transaction of the change. */
export async function recordChange(
  trx: Db,
  now: number,
  caller: Caller,
  { action, target, before, after }: PermissionChange,
): Promise<void> {
  await trx
    .insertInto('auth_permission_changes')
    .values({
      id: ulid(now),
      ts: now,
      action,
      actor_kind: caller.actor.kind,
      actor_id: caller.actor.id === null ? null : String(caller.actor.id),
      target_kind: target.kind,
      target_id: String(target.id),
      before: JSON.stringify(before),
      after: JSON.stringify(after),
      ip: caller.ip,
      request_id: caller.requestId,
    })
    .execute();
}

/** Creates the missing roles of the manifest in its order, so that the first gets the id 1. */
export async function seedRoles(auth: AuthState): Promise<void> {
  const { roles } = auth.model;
  if (!roles) return;
  await auth.store.lock('auth-roles', async () => {
    const known = new Set(
      (await auth.db.selectFrom('auth_roles').select('name').execute()).map(({ name }) => name),
    );
    for (const name of roles.list.filter((each) => !known.has(each)))
      await auth.db.insertInto('auth_roles').values({ name, is_system: 1 }).execute();
  });
}

/**
 * Gives a user another role, or none. Tokens contain the role, so earlier tokens become invalid.
 *
 * @throws AppError 409 when no user would be left with the first role.
 */
export async function giveRole(
  auth: AuthState,
  { trx, emit, caller }: Change,
  account: Pick<Account, 'id' | 'role' | 'disabledAt'>,
  roleId: number | null,
): Promise<void> {
  await auth.directory.update(trx, account.id, { role_id: roleId, tokens_valid_after: auth.now() });
  await assertOwnerLeft(auth, trx, account);
  await auth.sessions.endImpersonations(trx, account.id, 'role changed');
  const action = roleId === null ? 'role.removed' : 'role.assigned';
  await recordChange(trx, auth.now(), caller, {
    action,
    target: { kind: 'user', id: account.id },
    before: { role_id: account.role?.id ?? null },
    after: { role_id: roleId },
  });
  emit('permission.changed', account.id, { action, role_id: roleId });
}

/** Gives a new account the default role, which is never the first role. */
export async function assignDefaultRole(auth: AuthState, trx: Trx, userId: UserId): Promise<void> {
  const { roles } = auth.model;
  if (!roles || roles.default === roles.first) return;
  const role = await roleByName(trx, roles.default);
  if (!role) return;
  await trx
    .updateTable('auth_users')
    .set({ role_id: role.id })
    .where('user_id', '=', userId)
    .execute();
}

export async function roleByName(
  trx: Db,
  name: string,
): Promise<{ readonly id: number; readonly name: string } | undefined> {
  return trx
    .selectFrom('auth_roles')
    .select(['id', 'name'])
    .where('name', '=', name)
    .executeTakeFirst();
}
