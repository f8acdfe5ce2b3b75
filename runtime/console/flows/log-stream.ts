import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { LogBatch, LogFilter, Recorder } from '@twofold/runtime/kernel';
import type { ConsoleState } from './flow.ts';

interface Following {
  readonly recorder: Recorder;
  readonly streams: ConsoleState['streams'];
  /** How many earlier lines are sent first. */
  readonly limit: number;
  readonly filter: LogFilter;
}

/** Milliseconds between two looks at the log: 20 events a second at most. */
const EVERY = 50;
/** Milliseconds between the comments that keep an idle connection open. */
const HEARTBEAT = 15_000;
/** Readers of one process: each of them asks for lines 20 times a second. */
const MOST = 100;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};

/**
 * Sends lines as they are logged. The next lines are read from the log only when the connection
 * takes more. So a slow reader costs one event of memory, and its next event says how many lines it
 * missed.
 *
 * @throws AppError 429
 */
export function followLog(following: Following, { koa, context }: Call): Reply {
  const { recorder, streams } = following;
  if (streams.size >= MOST) throw failure.tooMany(`${MOST} readers follow the log already`);
  const lastId = koa.get('Last-Event-ID').slice(0, 100);
  const leaving = new AbortController();
  const stream = Readable.from(events(following, lastId || null, leaving.signal), {
    objectMode: false,
    highWaterMark: 1,
  });
  const end = recorder.follow();
  const close = () => {
    leaving.abort();
    stream.destroy();
  };
  streams.add(close);
  context.signal.addEventListener('abort', close, { once: true });
  stream.once('close', () => {
    leaving.abort();
    end();
    streams.delete(close);
  });
  return reply(200, stream, HEADERS);
}

async function* events(
  { recorder, limit, filter }: Following,
  lastId: string | null,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield ':\n\n';
  let after = lastId;
  let sentAt = Date.now();
  while (!signal.aborted) {
    const batch = await recorder.batch({ ...filter, after, limit });
    const text = textOf(batch);
    after = batch.after;
    if (text !== '' || Date.now() - sentAt > HEARTBEAT) {
      sentAt = Date.now();
      yield text || ':\n\n';
    }
    await pause(signal);
  }
}

function textOf({ lines, dropped }: LogBatch): string {
  const notice =
    dropped === 0 ? '' : `event: dropped\ndata: ${JSON.stringify({ lines: dropped })}\n\n`;
  const last = lines.at(-1);
  return last === undefined
    ? notice
    : `${notice}id: ${last.id}\nevent: lines\ndata: ${JSON.stringify(lines)}\n\n`;
}

/** Resolves at once when the reader leaves. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, EVERY);
    signal.addEventListener('abort', end, { once: true });
  });
}
