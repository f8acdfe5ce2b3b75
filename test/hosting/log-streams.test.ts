import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../runtime/hosting/engine/engine.ts';
import { followByReading } from '../../runtime/hosting/engine/drivers/podman/followed-stream.ts';
import type { StreamOptions } from '../../runtime/hosting/engine/dockerode/log-stream.ts';
import { readStreams } from '../../runtime/hosting/engine/logs/stream-source.ts';

/** A record of Podman's log: seconds and a fraction, a piece of text, and whether a line ends with it. */
type Piece = readonly [time: number, text: string, ends: boolean];

/**
 * Podman's stream, as it is: `since` and times of whole seconds, by record and not by line; a line that is being written is
 * given as far as it is there; a followed one loses lines, and says only that there is something new.
 */
function createPodman() {
  const pieces: Piece[] = [];
  let torn = '';
  let wake = () => {};
  let over = false;
  const timeOf = (time: number) =>
    new Date(Math.floor(time) * 1000).toISOString().replace('.000Z', 'Z');
  async function* read({ since = 0, follow, whole }: StreamOptions): AsyncGenerator<LogLine[]> {
    if (follow) {
      for (const isOver = () => over; !isOver();) {
        await new Promise<void>((resolve) => (wake = resolve));
        yield [];
      }
      return;
    }
    let open = '';
    let time = 0;
    const found: LogLine[] = [];
    for (const [at, text, ends] of pieces) {
      if (Math.floor(at) < since) continue;
      open += text;
      time = at;
      if (ends) found.push({ stream: 'stdout', time: timeOf(at), text: open });
      if (ends) open = '';
    }
    if (torn) found.push({ stream: 'stdout', time: timeOf(time), text: open + torn });
    else if (open && !whole) found.push({ stream: 'stdout', time: timeOf(time), text: open });
    yield found;
  }
  const change = (...more: Piece[]) => {
    torn = '';
    pieces.push(...more);
    wake();
  };
  return {
    read,
    write: change,
    tear: (text: string) => ((torn = text), wake()),
    end: () => ((over = true), wake()),
  };
}

describe('an output that is followed by reading it again', () => {
  const follow = async (podman: ReturnType<typeof createPodman>) =>
    (
      await Array.fromAsync(
        readStreams(
          { read: podman.read, follow: (options) => followByReading(podman.read, options) },
          { follow: true },
        ),
      )
    )
      .flat()
      .map(({ text }) => text);

  it('has no line twice when one was begun in the second before', async () => {
    const podman = createPodman();
    const read = follow(podman);
    podman.write(
      [1.8, 'a', true],
      [1.999, 'b begins', false],
      [2.001, ' and ends', true],
      [2.002, 'c', true],
    );
    await sleep(450);
    // Who reads from second 2 on has only the end of `b`.
    podman.write([2.5, 'd', true], [3.5, 'e', true]);
    await sleep(300);
    podman.write([3.6, 'f', true]);
    podman.end();
    expect(await read).toEqual(['a', 'b begins and ends', 'c', 'd', 'e', 'f']);
  });

  it('has no half a line: neither one that is being written, nor one that has no end yet', async () => {
    const podman = createPodman();
    const read = follow(podman);
    podman.write([1, 'a', true]);
    podman.tear('hal');
    // Long enough for one read, and not for two.
    await sleep(130);
    podman.write([1, 'half a line', true], [1.5, 'no end', false]);
    await sleep(450);
    podman.write([7, ', or one', true], [7, 'never ends', false]);
    podman.end();
    expect(await read).toEqual(['a', 'half a line', 'no end, or one', 'never ends']);
  });
});
