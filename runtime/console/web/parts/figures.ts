import { formatBytes } from './time.tsx';

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
