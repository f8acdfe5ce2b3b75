import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine, LogOptions, LogPosition, PlacedLine } from '../engine.ts';
import { EngineError } from '../errors.ts';
import type { StreamOptions } from '../dockerode/log-stream.ts';
import { linesAfter, toUnixSecond } from './position.ts';

/** Reads an output; `readStream` is the implementation. */
export type ReadStream = (options: StreamOptions) => AsyncIterable<readonly LogLine[]>;

/** The two ways to read an engine's stream: without and with `follow`. */
export interface LogStreams {
  readonly read: ReadStream;
  readonly follow: ReadStream;
}

const PAUSE = 100;
const MAX_READS = 20;

/**
 * Reads a container's output from the engine's stream. Each line is read once. With `follow` it
 * continues until the container has ended. Podman cuts a followed stream off at that moment, so the
 * rest is read again without `follow`.
 */
export async function* readStreams(
  { read, follow }: LogStreams,
  options: LogOptions,
): AsyncGenerator<PlacedLine[]> {
  const { tail, since, after, signal } = options;
  if (!options.follow)
    return yield* linesAfter(
      read({ ...(after ? { since: toUnixSecond(after.time) } : { tail, since }), signal }),
      after,
    );
  let last: LogPosition | undefined = after;
  const rest = async function* (from: ReadStream, more: StreamOptions = {}) {
    const lines = from({ since: last ? toUnixSecond(last.time) : since, signal, ...more });
    for await (const batch of linesAfter(untilGone(lines), last)) {
      last = batch.at(-1);
      yield batch;
    }
  };
  if (tail !== undefined && !after) {
    const { shown, end } = await readTail(read, tail);
    if (shown.length > 0) yield shown;
    last = end;
  }
  yield* rest(follow);
  const isStopped = () => signal?.aborted === true;
  // Lines may still be on their way to the engine's file when the container has ended. So reading
  // is repeated until it finds no new lines twice in a row.
  for (let looks = 0, quiet = 0; quiet < 2 && looks < MAX_READS && !isStopped(); looks += 1) {
    if (looks > 0) await sleep(PAUSE, undefined, { signal }).catch(() => {});
    const before = last;
    yield* rest(read, { whole: true });
    quiet = last === before ? quiet + 1 : 0;
  }
  if (!isStopped()) yield* rest(read);
}

/** Ends the stream without an error when a deployment has removed the container. */
async function* untilGone(
  lines: AsyncIterable<readonly LogLine[]>,
): AsyncGenerator<readonly LogLine[]> {
  try {
    yield* lines;
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error;
  }
}

/**
 * The last lines, and the exact position of the end. A position counts the lines with the same
 * time, so the last second is read from its beginning.
 */
async function readTail(
  read: ReadStream,
  tail: number,
): Promise<{ shown: PlacedLine[]; end: PlacedLine | undefined }> {
  const all = async (options: StreamOptions) =>
    (await Array.fromAsync(linesAfter(read({ ...options, whole: true }), undefined))).flat();
  const newest = (await all({ tail: 2 })).at(-1);
  if (!newest) return { shown: [], end: undefined };
  const since = toUnixSecond(newest.time);
  const recent = await all({ since });
  const missing = tail - recent.length;
  const older = missing > 0 ? await all({ tail: tail + recent.length }) : [];
  const before = older
    .filter(({ time }) => toUnixSecond(time) < since)
    .slice(-Math.max(1, missing));
  const shown = tail === 0 ? [] : [...(missing > 0 ? before : []), ...recent.slice(-tail)];
  return { shown, end: recent.at(-1) };
}
