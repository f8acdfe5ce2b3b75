import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './registry.ts';

/** Milliseconds between two looks at the event loop, which its histogram counts as delay. */
const RESOLUTION = 20;
/**
 * Milliseconds after which an observation of the event loop is forgotten, at most twice as long.
 */
const WINDOW = 30_000;
const NANOSECONDS = 1e9;

/** The figures of the process itself. Returns what ends its observation. */
export function addProcessMetrics(metrics: Metrics): () => void {
  const delay = observeEventLoop();
  const none = { labels: [] } as const;
  metrics.read(
    { ...none, name: 'process_cpu_seconds_total', help: 'CPU time used', type: 'counter' },
    () => {
      const { user, system } = process.cpuUsage();
      return [{ of: [], value: (user + system) / 1e6 }];
    },
  );
  metrics.read(
    { ...none, name: 'process_resident_memory_bytes', help: 'Resident memory', type: 'gauge' },
    () => [{ of: [], value: process.memoryUsage.rss() }],
  );
  metrics.read(
    {
      ...none,
      name: 'nodejs_eventloop_delay_seconds',
      help: 'Delay of the event loop: 99th percentile of the last minute, of the slowest process',
      type: 'gauge',
      joined: 'largest',
    },
    () => [{ of: [], value: delay.seconds() }],
  );
  return delay.stop;
}

type Delays = ReturnType<typeof monitorEventLoopDelay>;

function observeEventLoop(): { seconds(): number; stop(): void } {
  let [now, before] = [begin(), undefined as Delays | undefined];
  const turn = setInterval(() => {
    before?.disable();
    before = now;
    now = begin();
    before.disable();
  }, WINDOW).unref();
  return {
    seconds: () => Math.max(delayOf(now), before ? delayOf(before) : 0),
    stop: () => {
      clearInterval(turn);
      now.disable();
    },
  };
}

function begin(): Delays {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  return histogram;
}

const delayOf = (histogram: Delays) =>
  histogram.count === 0
    ? 0
    : Math.max(0, histogram.percentile(99) - RESOLUTION * 1e6) / NANOSECONDS;
