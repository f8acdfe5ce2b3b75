import type { AuthModel } from '@twofold/schema';
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '@twofold/runtime/kernel';

/** The manifest's roles, or null when it has none. */
export type RolesModel = AuthModel['roles'];

/** Everything: what `roles.first` holds, whatever its rows say. */
const EVERYTHING: readonly string[] = ['*'];

/**
 * The permissions of the role `r` as one text, a name on each line; SQL. `roles.first` holds
 * everything by its name, so that no call can take it away.
 */
export function permissionList(dialect: Dialect, roles: RolesModel): string {
  const names =
    dialect === 'postgres' ? `string_agg(p.name, chr(10))` : `group_concat(p.name, char(10))`;
  const rows = `(select ${names} from auth_role_permissions rp join auth_permissions p on p.id = rp.permission_id where rp.role_id = r.id)`;
  return roles?.first
    ? `case when r.name = ${textLiteral(roles.first)} then '*' else ${rows} end`
    : rows;
}

/** The other side of `permissionList`. */
export const splitPermissions = (text: string | null | undefined): readonly string[] =>
  text ? text.split('\n') : [];

/** A text of the manifest inside SQL that takes no parameters. */
export const textLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** What a role holds. */
export async function permissionsOf(
  db: Kysely<any>,
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

/** Inside a function of PostgreSQL. */
export const LOCK_RIGHTS = `perform pg_advisory_xact_lock(hashtextextended('auth/rights', 0))`;

/**
 * Locks out every other change of who holds what until the transaction ends. SQLite writes one at a
 * time anyway.
 */
export async function serialiseRights(db: Kysely<any>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended('auth/rights', 0))`.execute(db);
}
