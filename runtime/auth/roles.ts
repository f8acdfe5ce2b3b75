import type { Kysely, Transaction } from 'kysely';
import type { Caller } from './caller.ts';
import { ulid, type UserId } from './ids.ts';
import type { AuthParts } from './parts.ts';

/** What was changed, as `auth_permission_changes.action` names it. */
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

/** Notes who changed what somebody may do, in the transaction of the change. */
export async function recordChange(
  trx: Kysely<any>,
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

/** Makes the roles of the manifest that are not there yet, in its order: the first gets the id 1. */
export async function seedRoles({
  kernel,
  model,
}: Pick<AuthParts, 'kernel' | 'model'>): Promise<void> {
  const { roles } = model;
  if (!roles) return;
  await kernel.store.lock('auth-roles', async () => {
    const known = new Set(
      (await kernel.store.db.selectFrom('auth_roles').select('name').execute()).map(
        ({ name }) => name as string,
      ),
    );
    for (const name of roles.list.filter((each) => !known.has(each)))
      await kernel.store.db.insertInto('auth_roles').values({ name, is_system: 1 }).execute();
  });
}

/**
 * Gives a new user the default role; the one of `roles.first` goes to one user in the life of the database, even when
 * that user is deleted. Runs in the transaction that `directory.serialise` guards.
 */
export async function assignFirstRole(
  { model, kernel }: AuthParts,
  trx: Transaction<any>,
  caller: Caller,
  userId: UserId,
): Promise<void> {
  if (!model.roles) return;
  const first = model.roles.first === null ? undefined : await roleByName(trx, model.roles.first);
  const given = first && (await wasEverGiven(trx, first.id));
  const role = first && !given ? first : await roleByName(trx, model.roles.default);
  if (!role) return;
  await trx
    .updateTable('auth_users')
    .set({ role_id: role.id })
    .where('user_id', '=', userId)
    .execute();
  if (role === first)
    await recordChange(trx, kernel.now(), caller, {
      action: 'role.assigned',
      target: { kind: 'user', id: userId },
      before: null,
      after: { role_id: role.id },
    });
}

async function roleByName(trx: Kysely<any>, name: string): Promise<{ id: number } | undefined> {
  return (await trx
    .selectFrom('auth_roles')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst()) as { id: number } | undefined;
}

async function wasEverGiven(trx: Kysely<any>, roleId: number): Promise<boolean> {
  const row = await trx
    .selectFrom('auth_permission_changes')
    .select('id')
    .where('action', '=', 'role.assigned')
    .where('after', '=', JSON.stringify({ role_id: roleId }))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
