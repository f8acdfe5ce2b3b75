import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import type { Kernel, LogFilter } from '@twofold/runtime/kernel';
import { followLog, type LogStreams } from './log-stream.ts';
import { recorderOf } from './metrics.ts';

interface LogQuery {
  readonly level?: NonNullable<LogFilter['level']>;
  readonly q?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** `GET /api/system/logs`: a page of lines, or a stream of them. */
export function readLogs(kernel: Kernel, streams: LogStreams): Handler {
  const recorder = recorderOf(kernel);
  return async (call) => {
    const { limit, cursor, ...asked } = call.query as LogQuery;
    const filter = filterOf(asked);
    if (call.koa.get('Accept').includes('text/event-stream'))
      return followLog({ recorder, streams, limit, filter }, call);
    return reply(200, await recorder.page({ ...filter, limit, ...(cursor && { cursor }) }), STORED);
  };
}

const STORED = { 'Cache-Control': 'no-store' };

function filterOf({ level, q, since, until }: Omit<LogQuery, 'limit' | 'cursor'>) {
  return {
    ...(level && { level }),
    ...(q && { q }),
    ...(since && { since: timeOf('since', since) }),
    ...(until && { until: timeOf('until', until) }),
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Milliseconds since 1970 of an RFC 3339 time, Unix seconds, or a duration before now. */
function timeOf(name: string, text: string): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago) return Date.now() - Number(ago[1]) * UNITS[ago[2]!]! * 1000;
  const time = /^\d{1,12}(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw failure.badRequest(`${name} must be a time, Unix seconds or a duration such as 10m`);
}
