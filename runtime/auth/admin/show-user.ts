import { sql } from 'kysely';
import type { AnyDb } from '../tables.ts';
import type { UserId } from '../ids.ts';
import { lockedUntil, UNLOCKED } from '../sign-in/lock-state.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import type { AuthParts } from '../parts.ts';
import { rfc3339 } from '../time.ts';
import { rightsOf } from '../users/authority.ts';
import type { Account } from '../users/user-directory.ts';

/** Users with the state of their accounts, as administrators see them: three statements in all. */
export async function showUsers(parts: AuthParts, accounts: readonly Account[]) {
  const { kernel, lockout, model } = parts;
  const { db } = kernel.store;
  const ids = accounts.map(({ id }) => id);
  const hashes = new Map(accounts.map(({ id, email }) => [id, identifierOf(parts, email)]));
  const locks = await lockout.states(db, [...hashes.values()], 'public');
  const sessions = await countRows(db, 'auth_sessions', ids, parts.kernel.now());
  const passkeys = await countRows(db, 'auth_passkeys', ids, null);
  const rights = await rightsOfRoles(parts, accounts);
  return accounts.map((account) => {
    const state = locks.get(hashes.get(account.id) ?? '') ?? UNLOCKED;
    return {
      ...showAccount(parts, account),
      ...(model.roles && { permissions: rights.get(account.role?.id ?? 0) ?? [] }),
      locked_until: rfc3339(lockedUntil(state, model.lockout, kernel.now())),
      sessions: sessions.get(account.id) ?? 0,
      passkeys: passkeys.get(account.id) ?? 0,
    };
  });
}

export async function showUser(parts: AuthParts, account: Account) {
  return (await showUsers(parts, [account]))[0]!;
}

function showAccount({ signIn, kernel, model }: AuthParts, account: Account) {
  const profile = signIn.profile(account, account.last_login ?? 0);
  const entity = kernel.project.entities.find(({ name }) => name === model.user.entity);
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
  parts: AuthParts,
  accounts: readonly Account[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const roles = new Map(accounts.flatMap(({ role }) => (role ? [[role.id, role] as const] : [])));
  const rights = new Map<number, readonly string[]>();
  for (const [id, role] of roles)
    rights.set(id, [...new Set(await rightsOf(parts, parts.kernel.store.db, role))]);
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
