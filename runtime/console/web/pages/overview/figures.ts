import type { Figures } from '../../../flows/server.ts';
import type { PlotSeries } from '../../parts/plot-series.ts';

const SECOND = 1000;

/**
 * The ranges to choose from, and how often each is read again: not more often than there is a new
 * step.
 */
export const RANGES = [
  { id: '15m', title: '15 minutes', every: 5 * SECOND },
  { id: '1h', title: '1 hour', every: 10 * SECOND },
  { id: '24h', title: '24 hours', every: 60 * SECOND },
] as const;

/** A series by its name, with the name that people read; of cores, per cent of all `cpus`. */
export function seriesOf(
  { series }: Figures,
  name: string,
  title: string,
  color?: PlotSeries['color'],
  cpus?: number,
): PlotSeries {
  const found = series.find((each) => each.name === name);
  return {
    name: title,
    unit: cpus ? '%' : (found?.unit ?? ''),
    points: (found?.points ?? []).map(([at, value]) => [
      at,
      cpus && value ? (value / cpus) * 100 : value,
    ]),
    ...(color && { color }),
  };
}

/** How many there were in the range: a rate is per second. */
export function totalOf({ series, step_s: step }: Figures, name: string): number {
  const points = series.find((each) => each.name === name)?.points ?? [];
  return Math.round(points.reduce((sum, [, value]) => sum + (value ?? 0) * step, 0));
}

/** The last value that is known. */
export function lastOf({ series }: Figures, name: string): number | null {
  const points = series.find((each) => each.name === name)?.points ?? [];
  return points.findLast(([, value]) => value !== null)?.[1] ?? null;
}
