import { sql } from 'kysely';
import { profileOf } from '../users/profile.ts';
import type { AnyDb } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import { lockedUntil, UNLOCKED } from '../limits/lock-state.ts';
import { identifierOf } from '../limits/identifier.ts';
import type { AuthState } from '../state.ts';
import { rfc3339 } from '../base/time.ts';
import { rightsOf } from '../requests/authority.ts';
import type { Account } from '../users/user-directory.ts';

/** Users with the state of their accounts, as administrators see them: three statements in all. */
export async function showUsers(auth: AuthState, accounts: readonly Account[]) {
  const { db } = auth;
  const ids = accounts.map(({ id }) => id);
  const hashes = new Map(accounts.map(({ id, email }) => [id, identifierOf(auth, email)]));
  const locks = await auth.lockout.states(db, [...hashes.values()], 'public');
  const sessions = await countRows(db, 'auth_sessions', ids, auth.now());
  const passkeys = await countRows(db, 'auth_passkeys', ids, null);
  const rights = await rightsOfRoles(auth, accounts);
  return accounts.map((account) => {
    const state = locks.get(hashes.get(account.id) ?? '') ?? UNLOCKED;
    return {
      ...showAccount(auth, account),
      ...(auth.model.roles && { permissions: rights.get(account.role?.id ?? 0) ?? [] }),
      locked_until: rfc3339(lockedUntil(state, auth.model.lockout, auth.now())),
      sessions: sessions.get(account.id) ?? 0,
      passkeys: passkeys.get(account.id) ?? 0,
    };
  });
}

export async function showUser(auth: AuthState, account: Account) {
  return (await showUsers(auth, [account]))[0]!;
}

function showAccount(auth: AuthState, account: Account) {
  const profile = profileOf(auth, account);
  const entity = auth.project.entities.find(({ name }) => name === auth.model.user.entity);
  return {
    ...profile,
    ...(entity && { row: { type: entity.name, plural: entity.plural } }),
    created_at: rfc3339(account.createdAt),
    last_login: account.last_login === null ? null : profile.last_login,
    email_verified: account.emailVerified,
    disabled: account.disabledAt !== null,
    disabled_at: rfc3339(account.disabledAt),
    disabled_until: rfc3339(account.disabledUntil),
    disabled_reason: account.disabledReason,
    deletion_at: rfc3339(account.deletionAt),
    has_password: account.password !== null,
    totp: account.totpSince !== null,
    password_change_required: account.passwordChangeRequired,
  };
}

/** Everything that each role of these users gives, by the role's id. */
async function rightsOfRoles(
  auth: AuthState,
  accounts: readonly Account[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const roles = new Map(accounts.flatMap(({ role }) => (role ? [[role.id, role] as const] : [])));
  const rights = new Map<number, readonly string[]>();
  for (const [id, role] of roles) rights.set(id, [...new Set(await rightsOf(auth, auth.db, role))]);
  return rights;
}

/** The number of rows of each user; with a time, only of sessions that are open then. */
async function countRows(
  db: AnyDb,
  table: string,
  ids: readonly UserId[],
  openAt: number | null,
): Promise<ReadonlyMap<UserId, number>> {
  if (ids.length === 0) return new Map();
  let query = db
    .selectFrom(table)
    .select(['user_id', sql<number>`count(*)`.as('count')])
    .where('user_id', 'in', ids)
    .groupBy('user_id');
  if (openAt !== null)
    query = query
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', openAt)
      .where('absolute_expires_at', '>', openAt);
  const rows = await query.execute();
  return new Map(rows.map((row) => [row['user_id'], Number(row['count'])]));
}
