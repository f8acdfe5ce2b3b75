import { addProcessMetrics } from '../metrics/process-metrics.ts';
import { BOUNDS, type Family } from '../metrics/family.ts';
import { createMetrics, type Metrics } from '../metrics/registry.ts';

/** What happened in one process since its last sample. */
export interface RecordedSample {
  /** The length of that time. */
  readonly seconds: number;
  readonly requests: number;
  /** Answers with a status of 500 or more. */
  readonly errors: number;
  /** The number of requests in each bucket of `BOUNDS`, by their duration. */
  readonly counts: readonly number[];
  /** Seconds of processor time. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
  /** Milliseconds by which the event loop was late. */
  readonly lag: number;
}

/** Makes samples of the counters of a process. */
export interface Sampler {
  /** Counts requests. */
  readonly metrics: Metrics;
  start(): void;
  sample(): RecordedSample;
  stop(): void;
}

type Totals = Pick<RecordedSample, 'requests' | 'errors' | 'counts' | 'cpu'>;

const NONE: Totals = { requests: 0, errors: 0, counts: BOUNDS.map(() => 0).concat(0), cpu: 0 };

/**
 * @param metrics the counters of the page for Prometheus; without them the sampler makes its own.
 */
export function createSampler(metrics?: Metrics): Sampler {
  const counted = metrics ?? createMetrics();
  let endProcess = () => {};
  let [before, at] = [NONE, performance.now()];
  return {
    metrics: counted,
    start: () => {
      // Adds the metrics of the process, unless the page for Prometheus has added them already.
      if (!metrics) endProcess = addProcessMetrics(counted);
      [before, at] = [totalsOf(counted.snapshot()), performance.now()];
    },
    sample: () => {
      const families = counted.snapshot();
      const [last, since] = [before, at];
      [before, at] = [totalsOf(families), performance.now()];
      return {
        seconds: (at - since) / 1000,
        requests: before.requests - last.requests,
        errors: before.errors - last.errors,
        counts: before.counts.map((count, bucket) => count - last.counts[bucket]!),
        cpu: before.cpu - last.cpu,
        memory: valueOf(families, 'process_resident_memory_bytes'),
        lag: valueOf(families, 'nodejs_eventloop_delay_seconds') * 1000,
      };
    },
    stop: () => endProcess(),
  };
}

function totalsOf(families: readonly Family[]): Totals {
  const totals = { ...NONE, counts: [...NONE.counts] };
  for (const family of families) {
    const status = family.labels.indexOf('status');
    if (family.name === 'http_requests_total')
      for (const { of, value } of family.samples) {
        totals.requests += value;
        if (of[status]?.startsWith('5')) totals.errors += value;
      }
    if (family.name === 'http_request_duration_seconds')
      for (const { counts = [] } of family.samples)
        for (const [bucket, count] of counts.entries()) totals.counts[bucket]! += count;
  }
  return { ...totals, cpu: valueOf(families, 'process_cpu_seconds_total') };
}

const valueOf = (families: readonly Family[], name: string): number =>
  families.find((family) => family.name === name)?.samples[0]?.value ?? 0;
