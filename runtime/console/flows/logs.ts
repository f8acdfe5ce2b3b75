import { dateTime, list, orNull, text, type ValueOf } from '@twofold/schema/shapes';
import { momentOf, reply } from '@twofold/runtime/http';
import { flow, READS, recorderOf, whole } from './flow.ts';
import { followLog } from './log-stream.ts';

const level = { enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] } as const;

const line = whole({
  id: text,
  time: dateTime,
  level,
  message: text,
  request_id: orNull('string'),
  fields: { type: 'object' },
});

const page = whole({ lines: list(line), next_cursor: orNull('string') });

export type LogEntry = ValueOf<typeof line>;
export type LogPage = ValueOf<typeof page>;

const moment = {
  ...text,
  description: 'RFC 3339, Unix seconds, or a duration such as 10m',
} as const;

export const systemLogs = flow('GET /api/system/logs', {
  ...READS,
  summary: "Returns lines of the server's log, the newest first",
  description:
    'The last 50,000 lines, or 16 MiB of them, of all workers. With `Accept: text/event-stream` the last `limit` lines (0 is none) and then those that come: events `lines`, whose data is an array of lines and whose id is that of the last one. `Last-Event-ID` goes on from there. An event `dropped` says how many lines were missed, `{"lines": null}` after a restart.',
  headers: { 'Last-Event-ID': text },
  query: {
    level: { ...level, description: 'The least level' },
    q: { type: 'string', maxLength: 1000, description: 'A text that the line has' },
    since: moment,
    until: moment,
    limit: { type: 'integer', minimum: 0, maximum: 1000, default: 50 },
    cursor: { type: 'string', maxLength: 100 },
  },
  answers: {
    200: ['Lines, and the cursor of the next page', page],
  },
  refuses: { 400: 'A parameter is wrong', 429: 'A stream too many' },
  async handle(call, { kernel, streams }) {
    const { limit, cursor, level: least, q, since, until } = call.query;
    const filter = {
      ...(least && { level: least }),
      ...(q && { q }),
      ...(since && { since: momentOf('since', since) }),
      ...(until && { until: momentOf('until', until) }),
    };
    const recorder = recorderOf(kernel);
    if (call.koa.get('Accept').includes('text/event-stream'))
      return followLog({ recorder, streams, limit, filter }, call);
    const found = await recorder.page({ ...filter, limit, ...(cursor && { cursor }) });
    return reply(200, found, { 'Cache-Control': 'no-store' });
  },
});
