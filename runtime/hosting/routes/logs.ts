import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { type Call, momentOf, type Reply, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import type { HostedApp } from '../records/app.ts';
import type { LogLine, LogPosition } from '../engine/engine.ts';
import { followApp, readAppLogs, type AppLines, type Cursor } from '../logs.ts';
import { eventStream, wantsEvents } from './sse.ts';

export function logHandlers(core: Core) {
  return {
    async appLogs(call: Call): Promise<Reply> {
      const app = core.apps.byName(call.params['name'] as string);
      const { tail, timestamps } = call.query as { tail: number; timestamps: boolean };
      const process = processIn(app, call.query.process);
      const since = sinceOf(call.query.since);
      const show: FormatLine = ({ time, text }) => (timestamps ? `${time} ${text}` : text);
      if (wantsEvents(call)) return eventStream(call, logEvents(core, app.id, call, show));
      if (call.query.follow === true) return followLogs(core, app.id, call, show);
      const lines = await readAppLogs(core, app, {
        ...{ tail, process },
        ...(since !== undefined && { since }),
      });
      return reply(200, lines.map((line) => `${show(line)}\n`).join(''), {
        'Content-Type': 'text/plain; charset=utf-8',
      });
    },
  };
}

/** @throws AppError 404 for a process that the app does not have. */
function processIn({ spec }: HostedApp, name: string | undefined): string | null {
  if (name === undefined) return null;
  if (spec.processes?.some((process) => process.name === name)) return name;
  throw failure.notFound('Process not found');
}

/** Unix seconds of a time, or of a duration before now such as `10m`. */
export const sinceOf = (text: string | undefined): number | undefined =>
  text ? momentOf('since', text) / 1000 : undefined;

type FormatLine = (line: LogLine) => string;

function followLogs(core: Core, appId: string, { query, context }: Call, show: FormatLine): Reply {
  const lines = followApp(core, appId, {
    tail: query.tail,
    process: query.process ?? null,
    cursor: new Map(),
    signal: context.signal,
  });
  return reply(200, Readable.from(textLines(lines, show), { objectMode: false }), {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
  });
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
