import { sql } from 'kysely';
import type { AuthParts } from '../parts.ts';
import { devicesOf } from '../second-factor/devices.ts';
import { countRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { isSecondFactorRequired } from '../steps/entry.ts';
import type { AnyDb } from '../tables.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

export async function securityOf(parts: AuthParts, account: Account) {
  const { db } = parts.kernel.store;
  const keys = await parts.apiKeys.ofUser(db, account.id);
  return {
    email_verified: account.emailVerified,
    pending_email: await pendingEmail(parts, account),
    has_password: account.password !== null,
    totp: account.totpSince !== null,
    second_factor_required: isSecondFactorRequired(parts.model, account),
    deletion_at: rfc3339(account.deletionAt),
    sessions: (await parts.sessions.live(db, account.id)).length,
    api_keys: keys.length,
    identities: await countOf(parts, 'auth_identities', account),
    passkeys: await countOf(parts, 'auth_passkeys', account),
    recovery_codes: await countRecoveryCodes(db, account.id),
    devices: (await devicesOf(parts, db, account.id)).length,
  };
}

/** A new address that waits until the link in a mail is opened; null when there is none. */
async function pendingEmail({ kernel }: AuthParts, { id }: Account): Promise<string | null> {
  const row = await kernel.store.db
    .selectFrom('auth_one_time_tokens')
    .select('data')
    .where('user_id', '=', id)
    .where('kind', '=', 'email')
    .where('used_at', 'is', null)
    .where('expires_at', '>', kernel.now())
    .executeTakeFirst();
  return row ? ((JSON.parse(row['data']) as { email?: string }).email ?? null) : null;
}

async function countOf({ kernel }: AuthParts, table: string, { id }: Account): Promise<number> {
  const row = await (kernel.store.db as AnyDb)
    .selectFrom(table)
    .select(sql<number>`count(*)`.as('count'))
    .where('user_id', '=', id)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
