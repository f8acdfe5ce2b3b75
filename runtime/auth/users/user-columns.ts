import type { AuthUser, Column, Entity, Project, UserAttribute } from '@twofold/schema';
import { uuidV7 } from '../base/ids.ts';
import { emailKey } from '../base/identity-rules.ts';

/** Columns of a user that can be written, in the entity's table and in `auth_users`. */
export interface AccountPatch {
  readonly email?: string;
  readonly name?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly username?: string | null;
  readonly phone?: string | null;
  readonly avatar_url?: string;
  readonly locale?: string | null;
  readonly last_login?: number;
  readonly email_verified_at?: number | null;
  readonly password?: string | null;
  readonly password_changed_at?: number;
  readonly role_id?: number | null;
  readonly tokens_valid_after?: number;
  readonly disabled_at?: number | null;
  readonly deletion_at?: number | null;
  readonly disabled_until?: number | null;
  readonly disabled_reason?: string | null;
  readonly password_change_required_at?: number | null;
  readonly totp_confirmed_at?: number | null;
  /** The sealed secret. */
  readonly totp_sealed?: string | null;
  /** The last time step whose code was used. */
  readonly totp_step?: number | null;
  /** A sealed secret that is not confirmed yet, and when it was made. */
  readonly totp_pending?: string | null;
  readonly totp_pending_at?: number | null;
}

const TIME_COLUMNS = new Set<string>([
  'last_login',
  'email_verified_at',
  'created_at',
  'updated_at',
]);

/** Values of a new row that the caller does not give: key, timestamps, generated defaults. */
export function initialValues(
  project: Project,
  user: AuthUser,
  entity: Entity | null,
  now: number,
): Record<string, unknown> {
  const time = new Date(now).toISOString();
  const row: Record<string, unknown> = project.ids === 'uuid' ? { id: uuidV7(now) } : {};
  if (!entity)
    for (const name of [user.columns.created_at, user.columns.updated_at])
      if (name) row[name] = time;
  for (const column of entity?.columns ?? []) {
    if (column.stamp || column.default?.kind === 'now') row[column.name] = encodeTime(column, now);
    else if (column.default?.kind === 'uuid' && column.name !== 'id')
      row[column.name] = uuidV7(now);
    else if (column.version) row[column.name] = 1;
  }
  return row;
}

/** Splits a patch into columns of the entity's table and columns of the side table. */
export function splitColumns(
  user: AuthUser,
  columns: ReadonlyMap<string, Column>,
  patch: AccountPatch,
  now: number,
) {
  const own: Record<string, unknown> = {};
  const side: Record<string, unknown> = {};
  for (const [attribute, value] of Object.entries(patch)) {
    const column = user.columns[attribute as UserAttribute];
    if (column)
      own[column] = TIME_COLUMNS.has(attribute)
        ? encodeTime(columns.get(column), value)
        : orEmpty(columns.get(column), value);
    else if (attribute !== 'name') side[attribute] = value;
  }
  if (patch.username !== undefined && !user.columns.username)
    side['username_key'] = patch.username?.toLowerCase() ?? null;
  if (patch.email !== undefined && !user.columns.email) side['email_key'] = emailKey(patch.email);
  if (patch.password !== undefined) side['password_change_required_at'] = null;
  if (patch.email_verified_at !== undefined)
    side['verified_email'] =
      patch.email_verified_at !== null && patch.email ? emailKey(patch.email) : null;
  if (user.columns.updated_at)
    own[user.columns.updated_at] = encodeTime(columns.get(user.columns.updated_at), now);
  return { own, side };
}

const orEmpty = (column: Column | undefined, value: unknown) =>
  value === null && column?.required ? '' : value;

/** A time in milliseconds as its column keeps it. */
export function encodeTime(column: Column | undefined, milliseconds: unknown): unknown {
  if (milliseconds === null) return null;
  return column?.type === 'integer' || column?.type === 'bigint'
    ? milliseconds
    : new Date(milliseconds as number).toISOString();
}
