import { formatBytes } from './time.tsx';
/** A line of a plot. */
export interface PlotSeries {
  readonly name: string;
  /**
   * `ms`, `bytes` and `cores` have a format of their own. Any other unit is written after the
   * value: `/s`.
   */
  readonly unit: string;
  /**
   * Seconds since 1970, and the value; null where there is none. Every series has the same times.
   */
  readonly points: readonly (readonly [time: number, value: number | null])[];
  /**
   * The colour: `1` to `4`, or `bad` for a value that should be 0. When absent, the position of the
   * series decides.
   */
  readonly color?: PlotColor;
}

export type PlotColor = '1' | '2' | '3' | '4' | 'bad';

/** A series whose colour has been decided. */
export type Colored = PlotSeries & { readonly color: PlotColor };

/** The format of a plot's values by unit: with a prefix such as k, and the unit. */
const UNITS: Readonly<Record<string, (value: number) => string>> = {
  bytes: formatBytes,
  ms: (value) => (value >= 1000 ? `${digits(value / 1000)} s` : `${digits(value)} ms`),
};

/**
 * A figure with its unit, short enough for an axis.
 *
 * @example figure(1536, 'bytes') // '1.5 kB'
 */
export function figure(value: number, unit: string): string {
  const known = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  if (known) return known(value);
  return unit === '' ? digits(value) : `${digits(value)} ${unit}`;
}

const FEW = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0, notation: 'compact' });

const digits = (value: number) => (Math.abs(value) < 1000 ? FEW : WHOLE).format(value);
