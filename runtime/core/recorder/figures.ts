import { BOUNDS } from '../metrics/family.ts';
import type { TimeStep, TimeSteps } from './steps.ts';

/** The range of time that figures cover. */
export type FigureRange = '15m' | '1h' | '24h';

/** Figures over time. */
export interface Figures {
  /** Seconds since 1970, of the first and of the last step. */
  readonly from: number;
  readonly to: number;
  readonly step_s: number;
  readonly series: readonly FigureSeries[];
}

export interface FigureSeries {
  readonly name: string;
  readonly unit: string;
  /** Null means that the server was off; for a latency, also that there were no requests. */
  readonly points: readonly (readonly [unixSeconds: number, value: number | null])[];
}

const MINUTE = 60_000;
const SPANS: Readonly<Record<FigureRange, number>> = {
  '15m': 15 * MINUTE,
  '1h': 60 * MINUTE,
  '24h': 24 * 60 * MINUTE,
};

interface SeriesSpec {
  readonly name: string;
  readonly unit: string;
  value(step: TimeStep): number | null;
}

const latency = (share: number): SeriesSpec => ({
  name: `latency_p${share * 100}`,
  unit: 'ms',
  value: ({ counts }) => quantile(counts, share),
});

const SERIES: readonly SeriesSpec[] = [
  { name: 'requests', unit: '/s', value: ({ requests, seconds }) => requests / seconds },
  { name: 'errors', unit: '/s', value: ({ errors, seconds }) => errors / seconds },
  latency(0.5),
  latency(0.95),
  latency(0.99),
  { name: 'cpu', unit: 'cores', value: ({ cpu, seconds }) => cpu / seconds },
  { name: 'memory', unit: 'bytes', value: ({ memory }) => memory },
  { name: 'event_loop_lag', unit: 'ms', value: ({ lag }) => lag },
];

/** The figures of a range. Its last step is not complete yet. */
export function figuresOf(steps: TimeSteps, range: FigureRange, now: number): Figures {
  const { length } = steps;
  const count = SPANS[range] / length;
  const last = Math.floor(now / length);
  const times = Array.from({ length: count }, (_, at) => (last - count + 1 + at) * length);
  const known = times.map((time) => steps.at(time));
  return {
    from: times[0]! / 1000,
    to: times.at(-1)! / 1000,
    step_s: length / 1000,
    series: SERIES.map(({ name, unit, value }) => ({
      name,
      unit,
      points: times.map((time, at) => [time / 1000, rounded(known[at], value)] as const),
    })),
  };
}

/** Rounds to four digits, because the measurement is not more exact. */
function rounded(step: TimeStep | undefined, value: SeriesSpec['value']): number | null {
  const found = step && step.seconds > 0 ? value(step) : null;
  return found === null ? null : Number(found.toPrecision(found >= 10_000 ? 9 : 4));
}

/**
 * Milliseconds within which a share of the requests was answered; between two bounds, in
 * proportion.
 */
function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let rest = total * share;
  const bucket = counts.findIndex((count) => (rest -= count) <= 0);
  const at = bucket < 0 ? counts.length - 1 : bucket;
  const low = BOUNDS[at - 1] ?? 0;
  const high = BOUNDS[at] ?? low;
  const within = counts[at] === 0 ? 1 : 1 + rest / counts[at]!;
  return (low + (high - low) * Math.min(1, Math.max(0, within))) * 1000;
}
