import type { SelectQueryBuilder } from 'kysely';
import type { Db } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import { rfc3339 } from '../base/time.ts';

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

const BATCH_SIZE = 200;

/**
 * Reads all rows of a query in the order of their ids, a batch at a time. No transaction stays open
 * between two batches, so a slow client holds nothing in the database.
 *
 * @example for await (const rows of batches(db.selectFrom('posts').selectAll(), (row) => row)) …
 */
export async function* batches<Row extends { readonly id?: unknown }>(
  query: SelectQueryBuilder<any, any, Row>,
  view: (row: Row) => object,
): AsyncGenerator<object[]> {
  let after: unknown = null;
  for (;;) {
    const narrowed = after === null ? query : query.where('id', '>', after);
    const rows = await narrowed.orderBy('id').limit(BATCH_SIZE).execute();
    if (rows.length > 0) yield rows.map(view);
    if (rows.length < BATCH_SIZE) return;
    after = rows.at(-1)?.id;
  }
}
