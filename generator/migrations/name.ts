import { type MigrationStep, titleOf } from '@twofold/schema';

/** The number of `migrations/0007_add_posts_summary.ts` is 7. */
export function numberOf(path: string): number {
  return Number.parseInt(path.slice(path.lastIndexOf('/') + 1), 10);
}

/** `migrations/0002_add_posts_summary.ts`: the next number, and a name after the first step. */
export function migrationPath(
  existing: readonly string[],
  steps: readonly MigrationStep[],
): string {
  const last = Math.max(0, ...existing.map((path) => numberOf(path)).filter(Number.isFinite));
  const name = last === 0 ? 'init' : describe(steps);
  return `migrations/${String(last + 1).padStart(4, '0')}_${name}.ts`;
}

function describe(steps: readonly MigrationStep[]): string {
  const [first] = steps;
  const text = first ? titleOf(first) : 'nothing';
  return `${text}${steps.length > 1 ? '_and_more' : ''}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 60);
}
