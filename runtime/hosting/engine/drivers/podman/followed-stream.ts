import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine, PlacedLine } from '../../engine.ts';
import type { StreamOptions } from '../../dockerode/log-stream.ts';
import { linesAfter, toUnixSecond } from '../../logs/position.ts';

/**
 * The shortest pause between two reads, in milliseconds. After a slow read the pause is
 * `PAUSE_FACTOR` times as long as the read.
 */
const PAUSE = 100;
const PAUSE_FACTOR = 4;

/**
 * Follows an output of Podman, whose followed stream omits lines when much is printed. So the
 * followed stream is used only to learn that there are new lines. The lines are read without
 * `follow`, from the last known line on. The last line of such a read may still be incomplete: it
 * is returned only when the next read shows it unchanged.
 *
 * @param read reads an output, as `readStream`.
 */
export async function* followByReading(
  read: (options: StreamOptions) => AsyncIterable<readonly LogLine[]>,
  { since, signal }: StreamOptions,
): AsyncGenerator<readonly LogLine[]> {
  const wakeup = createWakeup(read({ follow: true, tail: 0, signal }));
  let last: PlacedLine | undefined;
  let held: PlacedLine | undefined;
  for (;;) {
    const began = Date.now();
    const over = wakeup.over() || signal?.aborted === true;
    let newest: PlacedLine | undefined;
    for await (const batch of linesAfter(
      read({ since: last ? toUnixSecond(last.time) : since, whole: true }),
      last,
    )) {
      const sure = newest ? [newest, ...batch] : batch;
      newest = sure.pop();
      if (sure.length > 0) yield sure;
      last = sure.at(-1) ?? last;
    }
    if (newest && isSame(newest, held)) {
      yield [newest];
      last = newest;
      newest = undefined;
    }
    held = newest;
    if (over && !held) return;
    await sleep(Math.max(PAUSE, PAUSE_FACTOR * (Date.now() - began)), undefined, { signal }).catch(
      () => {},
    );
    if (!held) await wakeup.wait();
  }
}

function isSame(a: PlacedLine, b: PlacedLine | undefined): boolean {
  return a.time === b?.time && a.seen === b.seen && a.text === b.text;
}

/** Wakes the reader at each new piece of the stream, and never blocks it after the stream's end. */
function createWakeup(stream: AsyncIterable<unknown>) {
  let isAwake = false;
  let ended = false;
  let wake = () => {};
  void (async () => {
    for await (const _ of stream) {
      isAwake = true;
      wake();
    }
  })()
    .catch(() => {})
    .finally(() => {
      ended = true;
      wake();
    });
  return {
    over: () => ended,
    async wait(): Promise<void> {
      if (!isAwake && !ended) await new Promise<void>((resolve) => (wake = resolve));
      isAwake = false;
    },
  };
}
