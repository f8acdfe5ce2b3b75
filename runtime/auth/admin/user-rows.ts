import type { Entity, Project } from '@twofold/schema';
import { sql } from 'kysely';
import type { Db } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import {
  type AdminWrite,
  guardAdminWrites,
  hasScope,
  type RequestContext,
} from '@twofold/runtime/kernel';
import type { AuthParts } from '../parts.ts';
import { callerOf } from '../requests/caller.ts';
import { assertProofFor } from '../requests/proof.ts';
import { parseOwnUserId } from '../ids.ts';
import { assertHoldsAsMuch, heldBy, rightsOf } from '../users/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import { endEverything } from './users.ts';

/**
 * Rows of `/api/data` are no way around the management of users. Who has `data:write` cannot change
 * or delete a user who holds more than they do, directly or with another row that takes users along,
 * and makes no organization where only `auth:manage` may.
 */
export function guardUserRows(parts: AuthParts): void {
  const { kernel, users } = parts;
  if (!users) return;
  const takers = rowsThatTakeUsers(kernel.project, parts.model.user.entity);
  guardAdminWrites(kernel.store, async (write) => {
    assertMayMake(parts, write);
    if (write.verb === 'create') return undefined;
    const isUser = write.entity.name === parts.model.user.entity;
    if (!isUser && !(write.verb === 'remove' && takers.has(write.entity.name))) return undefined;
    const { db } = kernel.store;
    await serialiseRights(db, kernel.store.dialect);
    if (isUser) await assertMayChange(parts, write);
    return write.verb === 'remove' ? keepStronger(parts, write.context) : undefined;
  });
}

/**
 * Where only administrators may make organizations, they are the only ones who may insert such a
 * row. The first member of an organization gets its first role.
 *
 * @throws AppError 403
 */
function assertMayMake({ model }: AuthParts, { context, entity, verb }: AdminWrite): void {
  const { organizations } = model;
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
async function assertMayChange(parts: AuthParts, { context, id, verb }: AdminWrite): Promise<void> {
  const { kernel, directory, events } = parts;
  const { db } = kernel.store;
  const userId = parseOwnUserId(kernel.project.ids, id ?? '');
  const account = userId === null ? null : await directory.find(db, userId);
  if (!account) return;
  await assertHoldsAsMuch(parts, db, context, account);
  if (verb !== 'remove') return;
  await assertProofFor(parts, db, context, account.id);
  await events.transact(callerOf(context), async (trx, emit) => {
    await endEverything(parts, account, trx, 'user deleted');
    emit('user.deleted', account.id, {});
  });
}

/** @returns a check that no user who holds more than the caller went with the deleted row. */
async function keepStronger(
  parts: AuthParts,
  context: RequestContext,
): Promise<() => Promise<void>> {
  const { db } = parts.kernel.store;
  const stronger = await strongerRoles(parts, db, context);
  const before = await countWith(parts, db, stronger);
  return async () => {
    if ((await countWith(parts, db, stronger)) < before) throw failure.forbidden();
  };
}

/** The roles that give a permission which the caller does not hold. */
async function strongerRoles(parts: AuthParts, db: Db, context: RequestContext): Promise<number[]> {
  const held = heldBy(context);
  const roles = await db.selectFrom('auth_roles').select(['id', 'name']).execute();
  const stronger: number[] = [];
  for (const { id, name } of roles) {
    const rights = await rightsOf(parts, db, { id, name });
    if (!rights.every((scope) => hasScope(held, scope))) stronger.push(id);
  }
  return stronger;
}

async function countWith(
  { directory }: AuthParts,
  db: Db,
  roles: readonly number[],
): Promise<number> {
  if (roles.length === 0) return 0;
  const { count } = await db
    .selectFrom(sql<Record<string, any>>`${sql.raw(directory.rows)}`.as('u'))
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
