import type { Transaction } from 'kysely';
import { failure } from '../../errors.ts';
import { type Handler, reply } from '../../http/route.ts';
import { type Caller, callerOf } from '../caller.ts';
import { checkText } from '../identity-rules.ts';
import type { AuthParts } from '../parts.ts';
import { isUniqueViolation } from '../register.ts';
import { recordChange } from '../roles.ts';

interface RoleRow {
  readonly id: number;
  readonly name: string;
  readonly is_system: number;
}

const PERMISSION = /^(\*|[a-z][a-z0-9_-]*:(\*|[a-z][a-z0-9_-]*))$/;

/** Roles and what they may do. Tokens of the people who have a role stop counting when it changes: they carry it. */
export function roleHandlers(parts: AuthParts) {
  const { kernel, events } = parts;
  const { db } = kernel.store;
  const find = async (id = ''): Promise<RoleRow> => {
    const row = /^\d{1,9}$/.test(id) ? await db.selectFrom('auth_roles').selectAll().where('id', '=', Number(id)).executeTakeFirst() : undefined;
    if (!row) throw failure.notFound('Role not found');
    return row as RoleRow;
  };
  const permissionsOf = async (roleId: number): Promise<string[]> => {
    const rows = await db.selectFrom('auth_role_permissions as rp').innerJoin('auth_permissions as p', 'p.id', 'rp.permission_id').select('p.name').where('rp.role_id', '=', roleId).orderBy('p.name').execute();
    return rows.map(({ name }) => name as string);
  };
  const show = async (role: RoleRow) => ({ id: role.id, name: role.name, is_system: role.is_system === 1, permissions: await permissionsOf(role.id) });
  const staleTokens = (trx: Transaction<any>, roleId: number) => trx.updateTable('auth_users').set({ tokens_valid_after: kernel.now() }).where('role_id', '=', roleId).execute();
  const change = async (caller: Caller, role: RoleRow, permission: string, action: 'permission.granted' | 'permission.revoked') => {
    if (!PERMISSION.test(permission)) throw failure.invalid('name must be like posts:read, posts:* or *');
    await events.transact(caller, async (trx, emit) => {
      const changed = action === 'permission.granted' ? await grant(trx, role.id, permission) : await revoke(trx, role.id, permission);
      if (!changed) return;
      await staleTokens(trx, role.id);
      await recordChange(trx, kernel.now(), caller, { action, target: { kind: 'role', id: role.id }, before: null, after: { permission } });
      emit('permission.changed', null, { action, role_id: role.id, permission });
    });
  };

  const list: Handler = async () => {
    const rows = (await db.selectFrom('auth_roles').selectAll().orderBy('id').execute()) as RoleRow[];
    const shown = [];
    for (const row of rows) shown.push(await show(row));
    return reply(200, { roles: shown, total: shown.length });
  };
  const createRole: Handler = async ({ context, body }) => {
    const caller = callerOf(context);
    const name = roleName(body.name);
    const wanted = (body.permissions ?? []) as string[];
    if (!wanted.every((permission) => PERMISSION.test(permission))) throw failure.invalid('permissions must be like posts:read, posts:* or *');
    const role = await unique(() =>
      events.transact(caller, async (trx, emit) => {
        const row = (await trx.insertInto('auth_roles').values({ name, is_system: 0 }).returningAll().executeTakeFirstOrThrow()) as RoleRow;
        for (const permission of wanted) await grant(trx, row.id, permission);
        await recordChange(trx, kernel.now(), caller, { action: 'role.created', target: { kind: 'role', id: row.id }, before: null, after: { name, permissions: wanted } });
        emit('permission.changed', null, { action: 'role.created', role_id: row.id });
        return row;
      }),
    );
    return reply(201, await show(role));
  };
  const updateRole: Handler = async ({ context, params, body }) => {
    const role = await find(params['id']);
    if (role.is_system === 1) throw failure.forbidden();
    const caller = callerOf(context);
    const name = roleName(body.name);
    await unique(() =>
      events.transact(caller, async (trx, emit) => {
        await trx.updateTable('auth_roles').set({ name }).where('id', '=', role.id).execute();
        await staleTokens(trx, role.id);
        await recordChange(trx, kernel.now(), caller, { action: 'role.updated', target: { kind: 'role', id: role.id }, before: { name: role.name }, after: { name } });
        emit('permission.changed', null, { action: 'role.updated', role_id: role.id });
      }),
    );
    return reply(200, await show({ ...role, name }));
  };
  const deleteRole: Handler = async ({ context, params }) => {
    const role = await find(params['id']);
    if (role.is_system === 1) throw failure.forbidden();
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      if (await trx.selectFrom('auth_users').select('user_id').where('role_id', '=', role.id).limit(1).executeTakeFirst()) throw failure.conflict('Role is in use');
      await trx.deleteFrom('auth_role_permissions').where('role_id', '=', role.id).execute();
      await trx.deleteFrom('auth_roles').where('id', '=', role.id).execute();
      await recordChange(trx, kernel.now(), caller, { action: 'role.deleted', target: { kind: 'role', id: role.id }, before: { name: role.name }, after: null });
      emit('permission.changed', null, { action: 'role.deleted', role_id: role.id });
    });
    return reply(204);
  };
  const grantPermission: Handler = async ({ context, params }) => {
    await change(callerOf(context), await find(params['id']), params['name'] ?? '', 'permission.granted');
    return reply(204);
  };
  const revokePermission: Handler = async ({ context, params }) => {
    await change(callerOf(context), await find(params['id']), params['name'] ?? '', 'permission.revoked');
    return reply(204);
  };
  const permissions: Handler = async () => {
    const rows = await db.selectFrom('auth_permissions').select(['id', 'name']).orderBy('name').execute();
    return reply(200, { permissions: rows, total: rows.length });
  };
  return { roles: list, createRole, updateRole, deleteRole, grantPermission, revokePermission, permissions };
}

function roleName(text: string): string {
  const name = checkText('name', text);
  if (!name) throw failure.invalid('name is required');
  return name;
}

async function unique<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUniqueViolation(error) ? failure.conflict('Role already exists') : error;
  }
}

async function grant(trx: Transaction<any>, roleId: number, name: string): Promise<boolean> {
  await trx.insertInto('auth_permissions').values({ name }).onConflict((conflict) => conflict.column('name').doNothing()).execute();
  const { id } = await trx.selectFrom('auth_permissions').select('id').where('name', '=', name).executeTakeFirstOrThrow();
  const added = await trx.insertInto('auth_role_permissions').values({ role_id: roleId, permission_id: id }).onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
  return Number(added.numInsertedOrUpdatedRows ?? 0) > 0;
}

async function revoke(trx: Transaction<any>, roleId: number, name: string): Promise<boolean> {
  const permission = await trx.selectFrom('auth_permissions').select('id').where('name', '=', name).executeTakeFirst();
  if (!permission) return false;
  return Number((await trx.deleteFrom('auth_role_permissions').where('role_id', '=', roleId).where('permission_id', '=', permission['id']).executeTakeFirst()).numDeletedRows) > 0;
}
