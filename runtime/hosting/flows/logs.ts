import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { count, dateTime, listed, object, orNull, text } from '@twofold/schema/shapes';
import { type Call, momentOf, type Reply, reply } from '@twofold/runtime/http';
import type { Core } from '../host/core.ts';
import { readAccessLog } from '../ingress/read-access-log.ts';
import type { HostedApp } from '../records/app.ts';
import type { LogLine, LogPosition } from '../engine/engine.ts';
import { followApp, readAppLogs, type AppLines, type Cursor } from '../deploy/logs.ts';
import { eventStream, LINES, wantsEvents } from './event-stream.ts';
import { flow, ON_APP, ON_ENGINE } from './flow.ts';

const since = { type: 'string', maxLength: 40 } as const;

export const appLogs = flow('GET /api/apps/:name/logs', {
  needs: 'apps:read',
  summary: 'Returns the output of the app, or follows it as a stream',
  query: {
    tail: { type: 'integer', minimum: 0, maximum: 100_000, default: 100 },
    since,
    follow: { type: 'boolean', default: false },
    process: { type: 'string', maxLength: 63 },
    timestamps: { type: 'boolean', default: false },
  },
  answers: { 200: ['Lines', 'text/plain'] },
  refuses: ON_ENGINE,
  async handle(call, leader) {
    const { tail, timestamps, follow, ...query } = call.query;
    const app = leader.apps.byName(call.params.name);
    const process = processIn(app, query.process);
    const from = sinceOf(query.since);
    const show: FormatLine = ({ time, text: line }) => (timestamps ? `${time} ${line}` : line);
    if (wantsEvents(call)) return eventStream(call, logEvents(leader, app.id, call, show));
    if (follow) return followLogs(leader, app.id, call, show);
    const lines = await readAppLogs(leader, app, {
      tail,
      process,
      ...(from !== undefined && { since: from }),
    });
    return reply(200, lines.map((line) => `${show(line)}\n`).join(''), {
      'Content-Type': 'text/plain; charset=utf-8',
    });
  },
});

/** A line of the access log. */
const accessEntry = object({
  at: dateTime,
  request_id: text,
  app: orNull('string'),
  ip: text,
  method: text,
  host: text,
  path: text,
  status: count,
  bytes: count,
  ms: { type: 'number', minimum: 0 },
  target: orNull('string'),
  user_agent: orNull('string'),
});

export const appRequests = flow('GET /api/apps/:name/requests', {
  needs: 'apps:read',
  summary: 'Lists the last requests of clients to the app, newest first',
  query: {
    status: { type: 'string', pattern: '^[1-5](xx|\\d\\d)$' },
    since,
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  answers: { 200: ['The requests', listed('requests', accessEntry)] },
  refuses: ON_APP,
  async handle({ params, query: { status, limit, ...query } }, { apps, ingress, accessLog }) {
    const { name } = apps.byName(params.name);
    const seconds = sinceOf(query.since);
    if (accessLog === null) return reply(200, { requests: [], total: 0 });
    await ingress.flushLog();
    const from = seconds === undefined ? undefined : seconds * 1000;
    return reply(200, await readAccessLog(accessLog, { app: name, status, since: from, limit }));
  },
});

/** @throws AppError 404 for a process that the app does not have. */
function processIn({ spec }: HostedApp, name: string | undefined): string | null {
  if (name === undefined) return null;
  if (spec.processes?.some((process) => process.name === name)) return name;
  throw failure.notFound('Process not found');
}

/** Unix seconds of a time, or of a duration before now such as `10m`. */
const sinceOf = (given: string | undefined): number | undefined =>
  given ? momentOf('since', given) / 1000 : undefined;

type FormatLine = (line: LogLine) => string;

function followLogs(core: Core, appId: string, { query, context }: Call, show: FormatLine): Reply {
  const lines = followApp(core, appId, {
    tail: query.tail,
    process: query.process ?? null,
    cursor: new Map(),
    signal: context.signal,
  });
  return reply(200, Readable.from(textLines(lines, show), { objectMode: false }), LINES);
}

async function* textLines(
  batches: AsyncGenerator<AppLines>,
  show: FormatLine,
): AsyncGenerator<string> {
  for await (const { lines } of batches) yield `${lines.map(show).join('\n')}\n`;
}

/**
 * Each line is an event. Its id has the position of the reader in every container, so that a client
 * can continue from there.
 */
async function* logEvents(
  core: Core,
  appId: string,
  { query, context, koa }: Call,
  show: FormatLine,
) {
  const cursor = new Map(parseCursor(koa.get('Last-Event-ID')));
  for await (const { container, lines } of followApp(core, appId, {
    tail: query.tail,
    process: query.process ?? null,
    cursor,
    signal: context.signal,
  })) {
    yield lines.map((line) => {
      cursor.set(container, line);
      return { id: printCursor(cursor), data: show(line) };
    });
  }
}

const printCursor = (cursor: Cursor) =>
  [...cursor].map(([id, { time, seen }]) => `${id.slice(0, 64)}=${time}/${seen}`).join(',');

function* parseCursor(header: string): Generator<readonly [string, LogPosition]> {
  for (const part of header.slice(0, 10_000).split(',')) {
    const match = /^([0-9a-f]{12,64})=([0-9T:.Z+-]{10,40})\/(\d{1,9})$/.exec(part);
    if (match && Number.isFinite(Date.parse(match[2] as string)))
      yield [match[1] as string, { time: match[2] as string, seen: Number(match[3]) }];
  }
}
