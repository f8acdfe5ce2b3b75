import type { Drift } from '@twofold/database';

/** Two lines for each: what differs, and how to mend it. */
export function formatDrift(drift: readonly Drift[]): string {
  return drift
    .map(({ object, kind, expected, found, fix }) => {
      const both = kind === 'different' ? `: ${expected} expected, ${found} found` : '';
      const one = kind === 'different' ? '' : ` (${expected ?? found})`;
      return `${kind.padEnd(9)}  ${object}${both}${one}\n   fix  ${fix}\n`;
    })
    .join('');
}
