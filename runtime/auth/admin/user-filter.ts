import { type RawBuilder, sql } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import { folded } from '@twofold/runtime/kernel';
import { parseOwnUserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { matches, type Search, searchedIds } from './user-keys.ts';

/** The conditions that users of the list have to meet. */
export interface UserFilter {
  readonly role?: string;
  readonly organization?: string;
  readonly state?: 'active' | 'disabled' | 'locked' | 'unverified' | 'deleted';
}

/**
 * How a condition reads the database. `list` finds the rows that match by their own index, which
 * suits a few. `test` looks at one row after the other, which suits a page of many.
 */
export type Form = 'list' | 'test';

/** SQL for the role, the state and the organization, and for a search. */
export function conditions(
  auth: AuthState,
  { role, state, organization }: UserFilter,
  form: Form,
  search: Search | null = null,
): RawBuilder<unknown> {
  const all = [
    sql.raw(`u.id is not null${auth.directory.live}`),
    ...(role === undefined ? [] : [hasRole(role, form)]),
    ...(organization === undefined ? [] : [isMember(auth, organization)]),
    ...(state === undefined ? [] : [isIn(auth, state, form)]),
    ...(search ? [isFound(auth, search, form)] : []),
  ];
  return sql.join(all, sql` and `);
}

function isFound(auth: AuthState, search: Search, form: Form): RawBuilder<unknown> {
  if (form === 'list') return sql`u.id in (${searchedIds(auth, search)})`;
  const each = search.keys.map((key) => matches(auth, search, key));
  return sql`(${sql.join(each, sql` or `)})`;
}

/** The sum keeps a planner from the index of roles, where the index of the order is the better. */
function hasRole(role: string, form: Form): RawBuilder<unknown> {
  const id = /^\d{1,9}$/.test(role)
    ? sql`${Number(role)}`
    : sql`(select id from auth_roles where name = ${role.replaceAll('\0', '')})`;
  return form === 'test'
    ? sql`(a.role_id + 0) = ${id}`
    : sql`u.id in (select user_id from auth_users where role_id = ${id})`;
}

/** @throws AppError 400 */
function isMember(auth: AuthState, organization: string): RawBuilder<unknown> {
  if (!auth.model.organizations)
    throw failure.badRequest('organization needs auth.organizations in the manifest');
  const id = parseOwnUserId(auth.project.ids, organization);
  if (id === null) throw failure.badRequest('organization must be an id');
  return sql`u.id in (select m.user_id from auth_members m where m.organization_id = ${id})`;
}

function isIn(
  auth: AuthState,
  state: NonNullable<UserFilter['state']>,
  form: Form,
): RawBuilder<unknown> {
  const now = auth.now();
  const disabled = sql`(a.disabled_at is not null and coalesce(a.disabled_until, ${now + 1}) > ${now})`;
  switch (state) {
    case 'disabled':
      return narrowly(disabled, form);
    case 'unverified': {
      const email = folded(auth.store.dialect, 'letters', auth.directory.columnOf('email'));
      const at = sql.ref(auth.directory.columnOf('email_verified_at'));
      return sql`(${at} is null or a.verified_email is null or a.verified_email <> ${email})`;
    }
    case 'locked':
      return sql`u.id in (select l.user_id from auth_identifier_locks l where l.bucket = 'public'
        and (l.locked_until > ${now} or l.total_since_success >= ${auth.model.lockout.hardAfter}))`;
    case 'deleted':
      return narrowly(sql`a.deletion_at is not null`, form);
    case 'active':
      return sql`a.deletion_at is null and not coalesce(${disabled}, ${auth.store.dialect === 'postgres' ? sql`false` : sql`0`})`;
  }
}

/** A condition on `a` that few users meet, so that its index is used. */
const narrowly = (condition: RawBuilder<unknown>, form: Form) =>
  form === 'test'
    ? condition
    : sql`u.id in (select a.user_id from auth_users a where ${condition})`;
