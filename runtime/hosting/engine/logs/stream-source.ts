import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine, LogOptions, LogPosition, PlacedLine } from '../engine.ts';
import { EngineError } from '../errors.ts';
import type { StreamOptions } from '../dockerode/log-stream.ts';
import { linesAfter, second } from './position.ts';

/** Reads an output, as `readStream`. */
export type ReadStream = (options: StreamOptions) => AsyncIterable<readonly LogLine[]>;

/** What an engine's stream gives: an output as it is, and one that is followed. */
export interface LogStreams {
  readonly read: ReadStream;
  readonly follow: ReadStream;
}

const PAUSE = 100;
const MAX_LOOKS = 20;

/**
 * A container's output from the engine's stream: each line once, and with `follow` until the
 * container has ended. Podman cuts a followed output off when the container ends, so that what is
 * left is read once more without following.
 */
export async function* readStreams(
  { read, follow }: LogStreams,
  options: LogOptions,
): AsyncGenerator<PlacedLine[]> {
  const { tail, since, after, signal } = options;
  if (!options.follow)
    return yield* linesAfter(
      read({ ...(after ? { since: second(after.time) } : { tail, since }), signal }),
      after,
    );
  let last: LogPosition | undefined = after;
  const rest = async function* (from: ReadStream, more: StreamOptions = {}) {
    const lines = from({ since: last ? second(last.time) : since, signal, ...more });
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
  // Lines may still be on their way to the engine's file when the container has ended: until two
  // looks find nothing new.
  for (let looks = 0, quiet = 0; quiet < 2 && looks < MAX_LOOKS && !isStopped(); looks += 1) {
    if (looks > 0) await sleep(PAUSE, undefined, { signal }).catch(() => {});
    const before = last;
    yield* rest(read, { whole: true });
    quiet = last === before ? quiet + 1 : 0;
  }
  if (!isStopped()) yield* rest(read);
}

/** A container that a deployment has removed meanwhile has no more to say. */
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
 * The last lines, and the exact position of the end: the last second is read from its beginning,
 * since a position counts the lines of one time.
 */
async function readTail(
  read: ReadStream,
  tail: number,
): Promise<{ shown: PlacedLine[]; end: PlacedLine | undefined }> {
  const all = async (options: StreamOptions) =>
    (await Array.fromAsync(linesAfter(read({ ...options, whole: true }), undefined))).flat();
  const newest = (await all({ tail: 2 })).at(-1);
  if (!newest) return { shown: [], end: undefined };
  const since = second(newest.time);
  const recent = await all({ since });
  const missing = tail - recent.length;
  const older = missing > 0 ? await all({ tail: tail + recent.length }) : [];
  const before = older.filter(({ time }) => second(time) < since).slice(-Math.max(1, missing));
  const shown = tail === 0 ? [] : [...(missing > 0 ? before : []), ...recent.slice(-tail)];
  return { shown, end: recent.at(-1) };
}
