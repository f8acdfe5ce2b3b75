import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { type RequestContext, SCOPE } from '@twofold/runtime/kernel';
import { object } from '@twofold/schema/shapes';
import type { AuthState } from '../state.ts';
import { type Caller, callerOf } from '../base/caller.ts';
import { rolePermissions } from '../sessions/client.ts';
import { checkText } from '../base/identity-rules.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import type { RowOf, Trx } from '../base/tables.ts';
import { assertHolds, rightsOf } from '../requests/authority.ts';
import { permissionsOf, serialiseRights } from '../users/permissions.ts';
import { type PermissionAction, recordChange } from '../users/roles.ts';
import { adminFlow } from './flow.ts';
import { counted, NAMES, SHORT, WHOLE } from './shapes.ts';

export const roles = adminFlow('GET /api/auth/admin/roles', {
  needs: 'admin',
  summary: 'Roles with their permissions',
  answers: { 200: ['The roles', counted('roles')] },
  async handle(_call, auth) {
    const rows = await auth.db.selectFrom('auth_roles').selectAll().orderBy('id').execute();
    const shown = [];
    for (const row of rows)
      shown.push({
        ...(await show(auth, row)),
        application_permissions: [...new Set(rolePermissions(auth.applications, row.name))],
        users: await usersOf(auth, row.id),
      });
    return reply(200, { roles: shown, total: shown.length });
  },
});

export const createRole = adminFlow('POST /api/auth/admin/roles', {
  needs: 'admin',
  audit: { target: 'role:{id}', values: ['name', 'permissions'], atomic: true },
  summary: 'Make a role',
  body: object({ name: SHORT, permissions: NAMES }, ['name']),
  answers: { 201: ['The role', object({ id: WHOLE })] },
  refuses: { 409: 'Role already exists' },
  async handle({ context, body }, auth) {
    const caller = callerOf(context);
    const name = roleName(body.name);
    const wanted = body.permissions ?? [];
    if (!wanted.every((permission) => SCOPE.test(permission)))
      throw failure.invalid('permissions must be like posts:read, posts:*, *:read or *');
    assertHolds(context, wanted);
    const role = await withUniqueName(() =>
      auth.events.transact(caller, async ({ trx, emit }) => {
        const row = await trx
          .insertInto('auth_roles')
          .values({ name, is_system: 0 })
          .returningAll()
          .executeTakeFirstOrThrow();
        for (const permission of wanted) await grant(trx, row.id, permission);
        await note(auth, trx, caller, 'role.created', row.id, null, { name, permissions: wanted });
        emit('permission.changed', null, { action: 'role.created', role_id: row.id });
        return row;
      }),
    );
    return reply(201, await show(auth, role));
  },
});

export const updateRole = adminFlow('PUT /api/auth/admin/roles/:id', {
  needs: 'admin',
  audit: { target: 'role:{id}', values: ['name'], atomic: true },
  summary: 'Rename a role',
  body: object({ name: SHORT }, ['name']),
  answers: { 200: ['The role', object({ id: WHOLE })] },
  async handle({ context, params, body }, auth) {
    const role = await findOwn(auth, params.id);
    const caller = callerOf(context);
    const name = roleName(body.name);
    await withUniqueName(() =>
      auth.events.transact(caller, async ({ trx, emit }) => {
        await assertHoldsRole(auth, trx, context, role);
        await trx.updateTable('auth_roles').set({ name }).where('id', '=', role.id).execute();
        await staleTokens(auth, trx, role.id);
        await note(auth, trx, caller, 'role.updated', role.id, { name: role.name }, { name });
        emit('permission.changed', null, { action: 'role.updated', role_id: role.id });
      }),
    );
    return reply(200, await show(auth, { ...role, name }));
  },
});

export const deleteRole = adminFlow('DELETE /api/auth/admin/roles/:id', {
  needs: 'admin',
  audit: { target: 'role:{id}', atomic: true },
  summary: 'Delete a role that no user has',
  answers: { 204: ['Deleted'] },
  refuses: { 409: 'Role is in use' },
  async handle({ context, params }, auth) {
    const role = await findOwn(auth, params.id);
    const caller = callerOf(context);
    await auth.events.transact(caller, async ({ trx, emit }) => {
      await assertHoldsRole(auth, trx, context, role);
      if (
        await trx
          .selectFrom('auth_users')
          .select('user_id')
          .where('role_id', '=', role.id)
          .limit(1)
          .executeTakeFirst()
      )
        throw failure.conflict('Role is in use');
      await trx.deleteFrom('auth_role_permissions').where('role_id', '=', role.id).execute();
      await trx.deleteFrom('auth_roles').where('id', '=', role.id).execute();
      await note(auth, trx, caller, 'role.deleted', role.id, { name: role.name }, null);
      emit('permission.changed', null, { action: 'role.deleted', role_id: role.id });
    });
    return reply(204);
  },
});

export const grantPermission = adminFlow('PUT /api/auth/admin/roles/:id/permissions/:name', {
  needs: 'admin',
  audit: { target: 'role:{id}', atomic: true },
  summary: 'Grant a permission to a role',
  answers: { 204: ['Granted'] },
  handle: (call, auth) => changePermission(auth, call, 'permission.granted'),
});

export const revokePermission = adminFlow('DELETE /api/auth/admin/roles/:id/permissions/:name', {
  needs: 'admin',
  audit: { target: 'role:{id}', atomic: true },
  summary: 'Take a permission from a role',
  answers: { 204: ['Taken'] },
  handle: (call, auth) => changePermission(auth, call, 'permission.revoked'),
});

export const permissions = adminFlow('GET /api/auth/admin/permissions', {
  needs: 'admin',
  summary: 'Permissions that roles have',
  answers: { 200: ['The permissions', counted('permissions')] },
  async handle(_call, auth) {
    const rows = await auth.db
      .selectFrom('auth_permissions')
      .select(['id', 'name'])
      .orderBy('name')
      .execute();
    return reply(200, { permissions: rows, total: rows.length });
  },
});

async function changePermission(
  auth: AuthState,
  { context, params }: Call,
  action: 'permission.granted' | 'permission.revoked',
): Promise<Reply> {
  const role = await find(auth, params.id);
  const permission = params.name;
  if (!SCOPE.test(permission))
    throw failure.invalid('name must be like posts:read, posts:*, *:read or *');
  if (action === 'permission.granted') assertHolds(context, [permission]);
  const caller = callerOf(context);
  await auth.events.transact(caller, async ({ trx, emit }) => {
    await assertHoldsRole(auth, trx, context, role);
    const changed =
      action === 'permission.granted'
        ? await grant(trx, role.id, permission)
        : await revoke(trx, role.id, permission);
    if (!changed) return;
    await staleTokens(auth, trx, role.id);
    await note(auth, trx, caller, action, role.id, null, { permission });
    emit('permission.changed', null, { action, role_id: role.id, permission });
  });
  return reply(204);
}

async function find(auth: AuthState, id = ''): Promise<RowOf<'auth_roles'>> {
  const row = /^\d{1,9}$/.test(id)
    ? await auth.db
        .selectFrom('auth_roles')
        .selectAll()
        .where('id', '=', Number(id))
        .executeTakeFirst()
    : undefined;
  if (!row) throw failure.notFound('Role not found');
  return row;
}

/** Finds a role that was created here. Roles of the manifest can only be changed in it. */
async function findOwn(auth: AuthState, id: string | undefined): Promise<RowOf<'auth_roles'>> {
  const role = await find(auth, id);
  if (role.is_system === 1) throw failure.forbidden();
  return role;
}

/**
 * A change of a role affects all users who have it, so the caller must hold every permission of the
 * role.
 *
 * @throws AppError 403
 */
async function assertHoldsRole(
  auth: AuthState,
  trx: Trx,
  context: RequestContext,
  role: RowOf<'auth_roles'>,
): Promise<void> {
  await serialiseRights(trx, auth.store.dialect);
  assertHolds(context, await rightsOf(auth, trx, role));
}

async function show(auth: AuthState, role: RowOf<'auth_roles'>) {
  return {
    id: role.id,
    name: role.name,
    is_system: role.is_system === 1,
    permissions: await permissionsOf(auth.db, auth.model.roles, role),
  };
}

async function usersOf(auth: AuthState, roleId: number): Promise<number> {
  const row = await auth.db
    .selectFrom('auth_users')
    .select((each) => each.fn.countAll().as('users'))
    .where('role_id', '=', roleId)
    .executeTakeFirst();
  return Number(row?.['users'] ?? 0);
}

async function staleTokens(auth: AuthState, trx: Trx, roleId: number): Promise<void> {
  await trx
    .updateTable('auth_users')
    .set({ tokens_valid_after: auth.now() })
    .where('role_id', '=', roleId)
    .execute();
}

function note(
  auth: AuthState,
  trx: Trx,
  caller: Caller,
  action: PermissionAction,
  id: number,
  before: unknown,
  after: unknown,
): Promise<void> {
  return recordChange(trx, auth.now(), caller, {
    action,
    target: { kind: 'role', id },
    before,
    after,
  });
}

function roleName(text: string): string {
  const name = checkText('name', text);
  if (!name) throw failure.invalid('name is required');
  return name;
}

async function withUniqueName<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUniqueViolation(error) ? failure.conflict('Role already exists') : error;
  }
}

async function grant(trx: Trx, roleId: number, name: string): Promise<boolean> {
  await trx
    .insertInto('auth_permissions')
    .values({ name })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const { id } = await trx
    .selectFrom('auth_permissions')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  const added = await trx
    .insertInto('auth_role_permissions')
    .values({ role_id: roleId, permission_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(added.numInsertedOrUpdatedRows ?? 0) > 0;
}

async function revoke(trx: Trx, roleId: number, name: string): Promise<boolean> {
  const permission = await trx
    .selectFrom('auth_permissions')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  if (!permission) return false;
  return (
    Number(
      (
        await trx
          .deleteFrom('auth_role_permissions')
          .where('role_id', '=', roleId)
          .where('permission_id', '=', permission['id'])
          .executeTakeFirst()
      ).numDeletedRows,
    ) > 0
  );
}
