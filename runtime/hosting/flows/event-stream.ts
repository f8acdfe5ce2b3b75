import { Readable } from 'node:stream';
import { type Call, type Reply, reply } from '@twofold/runtime/http';

/** One server-sent event. */
export interface SentEvent {
  readonly id: string;
  readonly event?: string;
  readonly data: string;
}

/** The headers of lines as they come. */
export const LINES = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
} as const;

/** Milliseconds between the comments that keep an idle connection open. */
const HEARTBEAT = 15_000;

/** Whether the client asks for `text/event-stream`. */
export const wantsEvents = ({ koa }: Call): boolean =>
  koa.get('Accept').includes('text/event-stream');

/**
 * Responds with a stream of events (HTML Living Standard §9.2). The generator is ended when the
 * client disconnects.
 */
export function eventStream(
  { context, koa }: Call,
  events: AsyncIterable<SentEvent | readonly SentEvent[]>,
): Reply {
  const stream = Readable.from(frames(events), { objectMode: false });
  const timer = setInterval(() => {
    if (!koa.res.writableEnded && koa.res.headersSent) koa.res.write(':\n\n');
  }, HEARTBEAT);
  const end = () => {
    clearInterval(timer);
    stream.destroy();
  };
  context.signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => clearInterval(timer));
  return reply(200, stream, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
}

async function* frames(
  events: AsyncIterable<SentEvent | readonly SentEvent[]>,
): AsyncGenerator<string> {
  yield ':\n\n';
  for await (const some of events) yield [some].flat().map(frame).join('');
}

/** The format ends a line at a carriage return too, so one in the data arrives as a line feed. */
function frame({ id, event, data }: SentEvent): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${event ? `event: ${event}\n` : ''}${lines.join('')}\n`;
}
