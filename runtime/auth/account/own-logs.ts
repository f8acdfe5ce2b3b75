import type { Db } from '../tables.ts';
import type { UserId } from '../ids.ts';
import { rfc3339 } from '../time.ts';
import { batches } from './batches.ts';

/** The linked providers of a user, as their owner sees them. */
export async function identitiesOf(db: Db, userId: UserId) {
  const rows = await db
    .selectFrom('auth_identities')
    .select(['provider', 'email', 'created_at', 'last_login_at'])
    .where('user_id', '=', userId)
    .orderBy('provider')
    .execute();
  return rows.map(({ created_at, last_login_at, ...row }) => ({
    ...row,
    created_at: rfc3339(created_at),
    last_login_at: rfc3339(last_login_at),
  }));
}

/** The attempts to sign in to an account, oldest first. */
export const attemptsOf = (db: Db, userId: UserId) =>
  batches(
    db.selectFrom('auth_login_attempts').selectAll().where('user_id', '=', userId),
    (row) => ({
      id: row.id,
      time: rfc3339(row.ts),
      kind: row.kind,
      outcome: row.outcome,
      reason: row.reason,
      ip: row.ip,
      user_agent: row.user_agent,
    }),
  );

/** The security events about an account, oldest first. */
export const eventsOf = (db: Db, userId: UserId) =>
  batches(
    db.selectFrom('auth_security_events').selectAll().where('user_id', '=', userId),
    (row) => ({
      id: row.id,
      type: row.type,
      time: rfc3339(row.ts),
      severity: row.severity,
      ip: row.ip,
      ...(JSON.parse(row.data) as object),
    }),
  );
