import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine, LogOptions } from './engine.ts';
import { linesAfter, second, type LogPosition } from './log-position.ts';

/** The shortest pause between two reads, in milliseconds; a slow read is followed by a longer one. */
const PAUSE = 100;
const PATIENCE = 4;

/**
 * Follows an output on an engine that leaves out lines of a followed one when much is printed (Podman). That stream only
 * says that there is something new; what it is, is read without following, from the last line on.
 *
 * @param read reads an output, as `Engine.logs`.
 */
export async function* followByReading(read: (options: LogOptions) => AsyncIterable<readonly LogLine[]>, { since, signal }: Pick<LogOptions, 'since' | 'signal'>): AsyncGenerator<readonly LogLine[]> {
  const bell = createBell(read({ follow: true, tail: 0, ...(signal && { signal }) }));
  let last: LogPosition | undefined;
  for (;;) {
    const began = Date.now();
    const over = bell.over() || signal?.aborted === true;
    const from = last ? second(last.time) : since;
    for await (const batch of linesAfter(read(from === undefined ? {} : { since: from }), last)) {
      last = batch.at(-1)?.position;
      yield batch;
    }
    if (over) return;
    await sleep(Math.max(PAUSE, PATIENCE * (Date.now() - began)), undefined, signal && { signal }).catch(() => {});
    await bell.rings();
  }
}

/** Rings when anything comes, and for good when the stream is over. */
function createBell(stream: AsyncIterable<unknown>) {
  let rung = false;
  let ended = false;
  let wake = () => {};
  void (async () => {
    for await (const _ of stream) {
      rung = true;
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
    async rings(): Promise<void> {
      if (!rung && !ended) await new Promise<void>((resolve) => (wake = resolve));
      rung = false;
    },
  };
}
