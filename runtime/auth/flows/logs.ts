import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import type { MembersOf } from '@twofold/schema/shapes';
import type { SelectQueryBuilder } from 'kysely';
import { parseOwnUserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import type { AnyDb } from '../base/tables.ts';
import { rfc3339 } from '../base/time.ts';
import { adminFlow } from './flow.ts';
import { page, SHORT } from './shapes.ts';

const logQuery = {
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  cursor: SHORT,
  since: SHORT,
} as const;

export const loginAttempts = adminFlow('GET /api/auth/admin/login-attempts', {
  needs: 'admin',
  summary: 'Who tried to sign in',
  query: {
    ...logQuery,
    user_id: SHORT,
    ip: SHORT,
    outcome: { type: 'string', enum: ['success', 'failure', 'blocked'] },
  },
  answers: { 200: ['The attempts', page('attempts')] },
  async handle({ query }, auth) {
    const { page, next_cursor } = await rows(auth, 'auth_login_attempts', query, (narrowed) =>
      ofUser(
        auth,
        byText(byText(narrowed, 'ip', query.ip), 'outcome', query.outcome),
        query.user_id,
      ),
    );
    return reply(200, {
      attempts: page.map(({ ts, ...row }) => ({ ...row, time: rfc3339(ts) })),
      next_cursor,
    });
  },
});

export const securityEvents = adminFlow('GET /api/auth/admin/security-events', {
  needs: 'admin',
  summary: 'What happened',
  query: { ...logQuery, type: SHORT, user_id: SHORT },
  answers: { 200: ['The events', page('events')] },
  async handle({ query }, auth) {
    const { page, next_cursor } = await rows(auth, 'auth_security_events', query, (narrowed) =>
      ofUser(auth, byText(narrowed, 'type', query.type), query.user_id),
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
  },
});

export const permissionChanges = adminFlow('GET /api/auth/admin/permission-changes', {
  needs: 'admin',
  summary: 'Who changed whose permissions',
  query: logQuery,
  answers: { 200: ['The changes', page('changes')] },
  async handle({ query }, auth) {
    const { page, next_cursor } = await rows(
      auth,
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
  },
});

type Query = SelectQueryBuilder<any, any, any>;

type LogQuery = MembersOf<typeof logQuery>;

/** Log rows, newest first. The cursor is the id of the last row, because ids sort by time. */
async function rows(
  auth: AuthState,
  table: string,
  asked: LogQuery,
  narrow: (query: Query) => Query,
) {
  const { limit } = asked;
  let query = narrow((auth.db as AnyDb).selectFrom(table).selectAll())
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (asked.cursor) query = query.where('id', '<', asked.cursor.replaceAll('\0', ''));
  if (asked.since) query = query.where('ts', '>=', parseTime(asked.since));
  const found = (await query.execute()) as Record<string, any>[];
  return {
    page: found.slice(0, limit),
    next_cursor: found.length > limit ? (found[limit - 1]!['id'] as string) : null,
  };
}

const byText = (query: Query, column: string, value: string | undefined) =>
  value === undefined ? query : query.where(column, '=', value.replaceAll('\0', ''));

function ofUser(auth: AuthState, query: Query, id: string | undefined): Query {
  if (id === undefined) return query;
  const userId = parseOwnUserId(auth.project.ids, id);
  if (userId === null) throw failure.badRequest('user_id must be an id');
  return query.where('user_id', '=', userId);
}

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw failure.badRequest('since must be a time such as 2026-01-31T00:00:00Z');
  return time;
}
