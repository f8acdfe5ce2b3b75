import type { Kysely } from 'kysely';
import type { UserId } from '../ids.ts';
import { rfc3339 } from '../time.ts';
import { batches } from './batches.ts';

type Row = Record<string, any>;

/** The linked providers of a user, as their owner sees them. */
export async function identitiesOf(db: Kysely<any>, userId: UserId) {
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
export const attemptsOf = (db: Kysely<any>, userId: UserId) =>
  logOf(db, 'auth_login_attempts', userId, (row) => ({
    id: row['id'],
    time: rfc3339(row['ts']),
    kind: row['kind'],
    outcome: row['outcome'],
    reason: row['reason'],
    ip: row['ip'],
    user_agent: row['user_agent'],
  }));

/** The security events about an account, oldest first. */
export const eventsOf = (db: Kysely<any>, userId: UserId) =>
  logOf(db, 'auth_security_events', userId, (row) => ({
    id: row['id'],
    type: row['type'],
    time: rfc3339(row['ts']),
    severity: row['severity'],
    ip: row['ip'],
    ...(JSON.parse(row['data']) as object),
  }));

function logOf(
  db: Kysely<any>,
  table: string,
  userId: UserId,
  view: (row: Row) => object,
): AsyncGenerator<object[]> {
  const rows = db.selectFrom(table).selectAll().where('user_id', '=', userId);
  return batches(rows, view);
}
