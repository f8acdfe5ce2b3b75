import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { LogLine, LogLines } from '../../parts/log-lines.ts';

/** Lines of a log. New ones wait while the log is paused. */
export interface PausableLines {
  readonly lines: LogLines;
  readonly paused: Signal<boolean>;
  /** How many lines wait. */
  readonly waiting: Signal<number>;
  take(lines: readonly LogLine[]): void;
  pause(): void;
  resume(): void;
}

/** At most this many lines wait. The oldest are skipped. */
const MOST = 50_000;

export function useHeld(lines: LogLines): PausableLines {
  return useMemo(() => createHeld(lines), [lines]);
}

function createHeld(lines: LogLines): PausableLines {
  const [paused, waiting] = [signal(false), signal(0)];
  let held: LogLine[] = [];
  const hold = (more: readonly LogLine[]) => {
    held = held.concat(more);
    const over = held.length - MOST;
    if (over > 0) {
      held = held.slice(over);
      lines.skip(over);
    }
    waiting.value = held.length;
  };
  return {
    ...{ lines, paused, waiting },
    take: (more) => (paused.peek() ? hold(more) : lines.append(more)),
    pause: () => (paused.value = true),
    resume: () => {
      paused.value = false;
      lines.append(held);
      held = [];
      waiting.value = 0;
    },
  };
}
