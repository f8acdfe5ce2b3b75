import { sql } from 'kysely';
import type { AuthState } from '../state.ts';
import { devicesOf } from '../second-factor/devices.ts';
import { countRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { isSecondFactorRequired } from '../sign-in/entry.ts';
import type { AnyDb } from '../base/tables.ts';
import { rfc3339 } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';

export async function securityOf(auth: AuthState, account: Account) {
  const { db } = auth;
  const keys = await auth.apiKeys.ofUser(db, account.id);
  return {
    email_verified: account.emailVerified,
    pending_email: await pendingEmail(auth, account),
    has_password: account.password !== null,
    totp: account.totpSince !== null,
    second_factor_required: isSecondFactorRequired(auth.model, account),
    deletion_at: rfc3339(account.deletionAt),
    sessions: (await auth.sessions.live(db, account.id)).length,
    api_keys: keys.length,
    identities: await countOf(auth, 'auth_identities', account),
    passkeys: await countOf(auth, 'auth_passkeys', account),
    recovery_codes: await countRecoveryCodes(db, account.id),
    devices: (await devicesOf(auth, db, account.id)).length,
  };
}

/** A new address that waits until the link in a mail is opened; null when there is none. */
async function pendingEmail(auth: AuthState, { id }: Account): Promise<string | null> {
  const row = await auth.db
    .selectFrom('auth_one_time_tokens')
    .select('data')
    .where('user_id', '=', id)
    .where('kind', '=', 'email')
    .where('used_at', 'is', null)
    .where('expires_at', '>', auth.now())
    .executeTakeFirst();
  return row ? ((JSON.parse(row['data']) as { email?: string }).email ?? null) : null;
}

async function countOf(auth: AuthState, table: string, { id }: Account): Promise<number> {
  const row = await (auth.db as AnyDb)
    .selectFrom(table)
    .select(sql<number>`count(*)`.as('count'))
    .where('user_id', '=', id)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
