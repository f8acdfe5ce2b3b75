import { setTimeout as sleep } from 'node:timers/promises';
import type { LogOptions, PlacedLine } from '../engine.ts';
import { createFileReader, type FileReader, type ReadLines } from './file-reader.ts';
import { readTail } from './file-tail.ts';
import type { Generations } from './generations.ts';
import type { LogPlace } from './log-place.ts';
import { createPlacer } from './position.ts';
import { createRecordParser } from './records.ts';
import { createWakeup } from './wakeup.ts';

/**
 * Shown where lines are missing: the reader was slower than the output, of which an engine keeps
 * only so much.
 */
export const MISSING =
  '(lines are missing here: they were gone from the log file before they were read)';

/**
 * Milliseconds between reads while lines come: pieces become large, and a person does not notice
 * it.
 */
const PAUSE = 20;
/**
 * Milliseconds between looks for a new file, also while a reader is slow: Docker can fill one in
 * 200 ms.
 */
const LOOK = 50;
/** Milliseconds between looks at a quiet file, in case the kernel did not report a change. */
const QUIET = 1000;

/**
 * A container's output from the engine's own files: each line once, and with `follow` until the
 * container has ended.
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
    yield* some(
      [...show({ lines: end.lines, missing: false }, end.before), ...last].slice(
        -(tail || Infinity),
      ),
    );
    if (!follow) return;
  }
  const reader = createFileReader(generations, parser, end?.offset ?? 0);
  const pieces = follow ? whileOpen({ place, generations, reader, signal }) : untilEnd(reader);
  for await (const piece of pieces) yield* some(show(piece));
  yield* some(show({ lines: parser.end(), missing: false }));
}

function* some(lines: PlacedLine[]): Generator<PlacedLine[]> {
  if (lines.length > 0) yield lines;
}

/** Lines with their places, from `since` on; the first `before` are counted, and not shown. */
function createShow({
  since,
  after,
}: LogOptions): (read: ReadLines, before?: number) => PlacedLine[] {
  const toPlaced = createPlacer(after);
  // As long as a line's time, so that their texts are in their order.
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
      // A reader that resumes from the notice has had the lines before it.
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

interface Written {
  readonly place: LogPlace;
  readonly generations: Generations;
  readonly reader: FileReader;
  readonly signal: AbortSignal | undefined;
}

/**
 * What is there and what comes, until nothing more is written. New files are opened although the
 * reader's own reader may be slow.
 */
async function* whileOpen({
  place,
  generations,
  reader,
  signal,
}: Written): AsyncGenerator<ReadLines> {
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
    LOOK,
  );
  const rings = setInterval(wakeup.wake, QUIET);
  signal?.addEventListener('abort', wakeup.wake, { once: true });
  try {
    for (let isLast = false; !isLast && !isStopped();) {
      // What is there after it was closed is all there will be.
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
