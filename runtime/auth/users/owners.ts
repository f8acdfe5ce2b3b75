import { sql } from 'kysely';
import type { AuthModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { LAST_OWNER } from '@twofold/runtime/kernel';
import type { Db, Trx } from '../base/tables.ts';
import type { AuthState } from '../state.ts';
import { textLiteral } from './permissions.ts';
import type { Account } from './user-directory.ts';

/** The user table. */
export interface OwnerTable {
  /** Its name in SQL. */
  readonly table: string;
  /** The column that a soft delete sets, if there is one. */
  readonly softDelete: string | undefined;
  /** The role that holds everything. */
  readonly first: string;
}

/** `roles.first` of the manifest, or null. */
export const firstRole = ({ roles }: AuthModel): string | null => roles?.first ?? null;

/**
 * SQL condition: the row `a` of `auth_users` has the first role and is neither disabled nor
 * deleted.
 */
const enabledOwner = ({ first }: OwnerTable) =>
  `a.disabled_at is null and a.deletion_at is null and a.role_id = (select id from auth_roles where name = ${textLiteral(first)})`;

/** SQL condition for a trigger of the user table: the row `old` is an enabled owner. */
export const wasOwner = (place: OwnerTable) =>
  `exists (select 1 from auth_users a where a.user_id = old.id and ${enabledOwner(place)})`;

/** SQL condition for the same trigger: another enabled owner exists. */
export function otherOwner(place: OwnerTable): string {
  const live = place.softDelete ? ` and u."${place.softDelete}" is null` : '';
  return `exists (select 1 from auth_users a join ${place.table} u on u.id = a.user_id${live} where a.user_id <> old.id and ${enabledOwner(place)})`;
}

/** Whether any user has the first role. With `enabled`, only users who may sign in count. */
export async function hasOwner(
  auth: AuthState,
  db: Db,
  { enabled = false }: { readonly enabled?: boolean } = {},
): Promise<boolean> {
  const query = sql`select 1 from auth_users a join auth_roles r on r.id = a.role_id
    join ${sql.raw(auth.directory.rows)} u on u.id = a.user_id${sql.raw(auth.directory.live)}
    where r.name = ${firstRole(auth.model)}${sql.raw(enabled ? ' and a.disabled_at is null and a.deletion_at is null' : '')} limit 1`;
  return (await query.execute(db)).rows.length > 0;
}

/**
 * Call this after a change of an account, in its transaction and after `serialiseRights`. A trigger
 * protects against deletion instead, because users can also be deleted outside this module.
 *
 * @throws AppError 409 when the account was the last enabled owner.
 */
export async function assertOwnerLeft(
  auth: AuthState,
  trx: Trx,
  before: Pick<Account, 'role' | 'disabledAt'>,
): Promise<void> {
  const first = firstRole(auth.model);
  if (first === null || before.role?.name !== first || before.disabledAt !== null) return;
  if (!(await hasOwner(auth, trx, { enabled: true }))) throw failure.conflict(LAST_OWNER);
}
