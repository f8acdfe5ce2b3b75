import type { IdKind } from '@twofold/schema';
import type { SelectQueryBuilder } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { parseOwnUserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { rfc3339 } from '../time.ts';
import type { AnyDb } from '../tables.ts';

type Query = SelectQueryBuilder<any, any, any>;

interface LogQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly since?: string;
  readonly user_id?: string;
  readonly ip?: string;
  readonly outcome?: string;
  readonly type?: string;
}

/** Log rows, newest first. The cursor is the id of the last row, because ids sort by time. */
export function logHandlers({ kernel }: AuthParts) {
  const db: AnyDb = kernel.store.db;
  const byUser = (query: Query, id: string | undefined) => ofUser(kernel.project.ids, query, id);
  const rows = async (table: string, asked: LogQuery, narrow: (query: Query) => Query) => {
    const limit = asked.limit ?? 50;
    let query = narrow(db.selectFrom(table).selectAll())
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (asked.cursor) query = query.where('id', '<', asked.cursor.replaceAll('\0', ''));
    if (asked.since) query = query.where('ts', '>=', parseTime(asked.since));
    const found = (await query.execute()) as Record<string, any>[];
    return {
      page: found.slice(0, limit),
      next_cursor: found.length > limit ? (found[limit - 1]!['id'] as string) : null,
    };
  };
  const loginAttempts: Handler = async ({ query }) => {
    const { page, next_cursor } = await rows('auth_login_attempts', query, (narrowed) =>
      byUser(byText(byText(narrowed, 'ip', query.ip), 'outcome', query.outcome), query.user_id),
    );
    return reply(200, {
      attempts: page.map(({ ts, ...row }) => ({ ...row, time: rfc3339(ts) })),
      next_cursor,
    });
  };
  const securityEvents: Handler = async ({ query }) => {
    const { page, next_cursor } = await rows('auth_security_events', query, (narrowed) =>
      byUser(byText(narrowed, 'type', query.type), query.user_id),
    );
    const events = page.map(({ id, type, ts, severity, user_id, ip, data }) => ({
      id,
      type,
      time: rfc3339(ts),
      severity,
      user_id,
      ip,
      ...(JSON.parse(data) as object),
    }));
    return reply(200, { events, next_cursor });
  };
  const permissionChanges: Handler = async ({ query }) => {
    const { page, next_cursor } = await rows(
      'auth_permission_changes',
      query,
      (narrowed) => narrowed,
    );
    const changes = page.map(({ ts, before, after, ...row }) => ({
      ...row,
      time: rfc3339(ts),
      before: JSON.parse(before),
      after: JSON.parse(after),
    }));
    return reply(200, { changes, next_cursor });
  };
  return { loginAttempts, securityEvents, permissionChanges };
}

const byText = (query: Query, column: string, value: string | undefined) =>
  value === undefined ? query : query.where(column, '=', value.replaceAll('\0', ''));

function ofUser(ids: IdKind, query: Query, id: string | undefined): Query {
  if (id === undefined) return query;
  const userId = parseOwnUserId(ids, id);
  if (userId === null) throw failure.badRequest('user_id must be an id');
  return query.where('user_id', '=', userId);
}

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw failure.badRequest('since must be a time such as 2026-01-31T00:00:00Z');
  return time;
}
