import type { Entity, Project } from '@twofold/schema';
import { sql } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import {
  type AdminWrite,
  guardAdminWrites,
  hasScope,
  type RequestContext,
} from '@twofold/runtime/kernel';
import type { Db } from '../base/tables.ts';
import type { AuthState } from '../state.ts';
import { callerOf } from '../base/caller.ts';
import { assertProofFor } from '../requests/proof.ts';
import { parseOwnUserId } from '../base/ids.ts';
import { assertHoldsAsMuch, heldBy, rightsOf } from '../requests/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import { endEverything } from './users.ts';

/**
 * Rows of `/api/data` are no way around the management of users. Who has `data:write` cannot change
 * or delete a user who holds more than they do, directly or with another row that takes users along,
 * and makes no organization where only `auth:manage` may.
 */
export function guardUserRows(auth: AuthState): void {
  if (!auth.config.users) return;
  const takers = rowsThatTakeUsers(auth.project, auth.model.user.entity);
  guardAdminWrites(auth.store, async (write) => {
    assertMayMake(auth, write);
    if (write.verb === 'create') return undefined;
    const isUser = write.entity.name === auth.model.user.entity;
    if (!isUser && !(write.verb === 'remove' && takers.has(write.entity.name))) return undefined;
    const { db } = auth;
    await serialiseRights(db, auth.store.dialect);
    if (isUser) await assertMayChange(auth, write);
    return write.verb === 'remove' ? keepStronger(auth, write.context) : undefined;
  });
}

/**
 * Where only administrators may make organizations, they are the only ones who may insert such a
 * row. The first member of an organization gets its first role.
 *
 * @throws AppError 403
 */
function assertMayMake(auth: AuthState, { context, entity, verb }: AdminWrite): void {
  const { organizations } = auth.model;
  if (verb !== 'create' || entity.name !== organizations?.entity) return;
  if (organizations.create === 'admin' && !hasScope(heldBy(context), 'auth:manage'))
    throw failure.forbidden();
}

/**
 * The rules of the routes of `/api/auth/admin/users/:id`. Deleting an account ends its sessions and
 * keys, as those routes do, also where the row is only marked as deleted.
 *
 * @throws AppError 403
 */
async function assertMayChange(auth: AuthState, { context, id, verb }: AdminWrite): Promise<void> {
  const { db } = auth;
  const userId = parseOwnUserId(auth.project.ids, id ?? '');
  const account = userId === null ? null : await auth.directory.find(db, userId);
  if (!account) return;
  await assertHoldsAsMuch(auth, db, context, account);
  if (verb !== 'remove') return;
  await assertProofFor(auth, db, context, account.id);
  await auth.events.transact(callerOf(context), async ({ trx, emit }) => {
    await endEverything(auth, account, trx, 'user deleted');
    emit('user.deleted', account.id, {});
  });
}

/** @returns a check that no user who holds more than the caller went with the deleted row. */
async function keepStronger(
  auth: AuthState,
  context: RequestContext,
): Promise<() => Promise<void>> {
  const { db } = auth;
  const stronger = await strongerRoles(auth, db, context);
  const before = await countWith(auth, db, stronger);
  return async () => {
    if ((await countWith(auth, db, stronger)) < before) throw failure.forbidden();
  };
}

/** The roles that give a permission which the caller does not hold. */
async function strongerRoles(auth: AuthState, db: Db, context: RequestContext): Promise<number[]> {
  const held = heldBy(context);
  const roles = await db.selectFrom('auth_roles').select(['id', 'name']).execute();
  const stronger: number[] = [];
  for (const { id, name } of roles) {
    const rights = await rightsOf(auth, db, { id, name });
    if (!rights.every((scope) => hasScope(held, scope))) stronger.push(id);
  }
  return stronger;
}

async function countWith(auth: AuthState, db: Db, roles: readonly number[]): Promise<number> {
  if (roles.length === 0) return 0;
  const { count } = await db
    .selectFrom(sql<Record<string, any>>`${sql.raw(auth.directory.rows)}`.as('u'))
    .innerJoin('auth_users as a', 'a.user_id', 'u.id')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('a.role_id', 'in', roles)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * The types of rows with which users are deleted, because a foreign key from the user, direct or
 * through other types, cascades.
 */
function rowsThatTakeUsers({ entities }: Project, user: string | null): ReadonlySet<string> {
  const found = new Set<string>();
  const follow = (name: string): void => {
    const taking = entities.find((entity) => entity.name === name)?.columns.flatMap(takenWith);
    for (const other of taking ?? []) {
      if (found.has(other)) continue;
      found.add(other);
      follow(other);
    }
  };
  if (user !== null) follow(user);
  return found;
}

const takenWith = ({ references }: Entity['columns'][number]): readonly string[] =>
  references?.onDelete === 'cascade' ? [references.entity] : [];
