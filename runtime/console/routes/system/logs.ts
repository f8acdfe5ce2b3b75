import { type Handler, momentOf, reply } from '@twofold/runtime/http';
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
    ...(since && { since: momentOf('since', since) }),
    ...(until && { until: momentOf('until', until) }),
  };
}
