import type { AuthModel } from '@twofold/schema';
import { sql } from 'kysely';
import type { Dialect } from '@twofold/runtime/kernel';
import type { Db } from '../base/tables.ts';

/** The manifest's roles, or null when it has none. */
export type RolesModel = AuthModel['roles'];

/** All permissions. The role `roles.first` always has them, independently of its rows. */
const EVERYTHING: readonly string[] = ['*'];

/**
 * SQL for the permissions of the role `r` as one text with a name on each line. `roles.first` has
 * all permissions because of its name, so that no API call can remove them.
 */
export function permissionList(dialect: Dialect, roles: RolesModel): string {
  const names =
    dialect === 'postgres' ? `string_agg(p.name, chr(10))` : `group_concat(p.name, char(10))`;
  const rows = `(select ${names} from auth_role_permissions rp join auth_permissions p on p.id = rp.permission_id where rp.role_id = r.id)`;
  return roles?.first
    ? `case when r.name = ${textLiteral(roles.first)} then '*' else ${rows} end`
    : rows;
}

/** Splits the text that `permissionList` selects. */
export const splitPermissions = (text: string | null | undefined): readonly string[] =>
  text ? text.split('\n') : [];

/** Quotes a text of the manifest for SQL that cannot take parameters. */
export const textLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The permissions of a role. */
export async function permissionsOf(
  db: Db,
  roles: RolesModel,
  role: { readonly id: number; readonly name: string } | null,
): Promise<readonly string[]> {
  if (!role || !roles) return [];
  if (role.name === roles.first) return EVERYTHING;
  const rows = await db
    .selectFrom('auth_role_permissions as rp')
    .innerJoin('auth_permissions as p', 'p.id', 'rp.permission_id')
    .select('p.name')
    .where('rp.role_id', '=', role.id)
    .orderBy('p.name')
    .execute();
  return rows.map((row) => row['name'] as string);
}

/** The lock of `serialiseRights`, for use inside a PostgreSQL function. */
export const LOCK_RIGHTS = `perform pg_advisory_xact_lock(hashtextextended('auth/rights', 0))`;

/**
 * Blocks every other change of roles and permissions until the transaction ends. SQLite has only
 * one writer at a time anyway.
 */
export async function serialiseRights(db: Db, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended('auth/rights', 0))`.execute(db);
}
