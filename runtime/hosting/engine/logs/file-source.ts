import { setTimeout as sleep } from 'node:timers/promises';
import type { LogOptions, PlacedLine } from '../engine.ts';
import { createFileReader, type FileReader, type ReadLines } from './file-reader.ts';
import { readTail } from './file-tail.ts';
import type { Generations } from './generations.ts';
import { type LogPlace, createRecordParser } from './records.ts';
import { createPlacer } from './position.ts';
import { watch, type FSWatcher } from 'node:fs';

/**
 * Shown in place of missing lines: the reader was slower than the output, and the engine has
 * deleted the file.
 */
export const MISSING =
  '(lines are missing here: they were gone from the log file before they were read)';

/**
 * Milliseconds between reads while new lines arrive. The pause makes the pieces larger and is too
 * short to be noticed.
 */
const PAUSE = 20;
/** Milliseconds between checks for a new file: Docker can fill a file in 200 ms. */
const CHECK_INTERVAL = 50;
/** Milliseconds between reads of a file without changes, in case the kernel did not report one. */
const QUIET_INTERVAL = 1000;

/**
 * Reads a container's output from the engine's files. Each line is read once. With `follow` it
 * continues until the container has ended.
 */
export async function* readLogFiles(
  place: LogPlace,
  generations: Generations,
  options: LogOptions,
): AsyncGenerator<PlacedLine[]> {
  const { tail, after, signal } = options;
  const follow = options.follow === true && place.open;
  const show = createShow(options);
  const end =
    tail === undefined || after ? undefined : await readTail(generations.files, place.format, tail);
  const parser = end?.parser ?? createRecordParser(place.format);
  if (end) {
    await generations.skipToLast();
    const last = follow ? [] : show({ lines: parser.end(), missing: false });
    yield* nonEmpty(
      [...show({ lines: end.lines, missing: false }, end.before), ...last].slice(
        -(tail || Infinity),
      ),
    );
    if (!follow) return;
  }
  const reader = createFileReader(generations, parser, end?.offset ?? 0);
  const pieces = follow ? whileOpen({ place, generations, reader, signal }) : untilEnd(reader);
  for await (const piece of pieces) yield* nonEmpty(show(piece));
  yield* nonEmpty(show({ lines: parser.end(), missing: false }));
}

function* nonEmpty(lines: PlacedLine[]): Generator<PlacedLine[]> {
  if (lines.length > 0) yield lines;
}

/**
 * Adds positions to lines, and omits the lines before `since`. The first `before` lines are counted
 * for the positions but not returned.
 */
function createShow({
  since,
  after,
}: LogOptions): (read: ReadLines, before?: number) => PlacedLine[] {
  const toPlaced = createPlacer(after);
  // In the same format as a line's time, so that they can be compared as text.
  const from =
    since === undefined
      ? ''
      : `${new Date(Math.floor(since) * 1000).toISOString().slice(0, -1)}000000Z`;
  let isMissing = false;
  let last: PlacedLine | undefined;
  return ({ lines, missing }, before = 0) => {
    const placed = toPlaced(lines)
      .slice(before)
      .filter(({ time }) => time >= from);
    isMissing ||= missing;
    const first = placed[0];
    if (isMissing && first) {
      // The notice has the position of the line before it, so that a reader that resumes there
      // misses nothing.
      placed.unshift({
        stream: 'stderr',
        text: MISSING,
        time: last?.time ?? first.time,
        seen: last?.seen ?? 0,
      });
      isMissing = false;
    }
    last = placed.at(-1) ?? last;
    return placed;
  };
}

async function* untilEnd(reader: FileReader): AsyncGenerator<ReadLines> {
  for (let read = await reader.next(); read; read = await reader.next()) yield read;
}

interface OpenOutput {
  readonly place: LogPlace;
  readonly generations: Generations;
  readonly reader: FileReader;
  readonly signal: AbortSignal | undefined;
}

/**
 * The existing text and all new text, until the container has ended. A timer opens new files,
 * because the caller may take long to handle a piece.
 */
async function* whileOpen({
  place,
  generations,
  reader,
  signal,
}: OpenOutput): AsyncGenerator<ReadLines> {
  const wakeup = createWakeup(place.path);
  const isStopped = () => signal?.aborted === true;
  let isClosed = false;
  let failure: Error | undefined;
  const end = place.watchEnd((error) => {
    isClosed = true;
    failure = error;
    wakeup.wake();
  });
  const looks = setInterval(
    () => void (wakeup.isWatching() || generations.look().catch(() => {})),
    CHECK_INTERVAL,
  );
  const rings = setInterval(wakeup.wake, QUIET_INTERVAL);
  signal?.addEventListener('abort', wakeup.wake, { once: true });
  try {
    for (let isLast = false; !isLast && !isStopped();) {
      // This read is the last, because nothing is written after the reported end.
      isLast = isClosed;
      let has = false;
      for (let read = await reader.next(); read && !isStopped(); read = await reader.next()) {
        has = true;
        wakeup.close();
        yield read;
      }
      if (!isLast) await (has ? sleep(PAUSE) : wakeup.wait());
    }
    if (failure) throw failure;
  } finally {
    clearInterval(looks);
    clearInterval(rings);
    signal?.removeEventListener('abort', wakeup.wake);
    end.close();
    wakeup.close();
  }
}

/** Wakes the reader of a file when the file changes or when `wake` is called. */
export interface Wakeup {
  wake(): void;
  /**
   * Resolves at once the first time, because earlier changes were not watched. Later it waits for
   * the next change.
   */
  wait(): Promise<void>;
  /** Whether the file is being watched. */
  isWatching(): boolean;
  close(): void;
}

/** Milliseconds between reads when the kernel allows this process no more file watches. */
const POLL_INTERVAL = 200;

/** Watches the file only while the reader waits, so that not every write is reported. */
export function createWakeup(path: string): Wakeup {
  let watching: { close(): void } | undefined;
  let isAwake = false;
  let resume = () => {};
  const wake = () => {
    isAwake = true;
    resume();
  };
  const close = () => {
    watching?.close();
    watching = undefined;
  };
  return {
    wake,
    close,
    isWatching: () => watching !== undefined,
    async wait() {
      if (!watching) {
        isAwake = false;
        watching = watchFile(path, wake);
        return;
      }
      if (!isAwake) await new Promise<void>((resolve) => (resume = resolve));
      close();
    },
  };
}

function watchFile(path: string, wake: () => void): { close(): void } {
  try {
    const watcher: FSWatcher = watch(path, { persistent: false }, wake);
    return watcher.on('error', wake);
  } catch {
    const timer = setTimeout(wake, POLL_INTERVAL);
    return { close: () => clearTimeout(timer) };
  }
}
