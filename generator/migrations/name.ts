import { type MigrationStep, type SourceText, titleOf } from '@twofold/schema';

/** The number of `migrations/0007_add_posts_summary.ts` is 7. */
export function numberOf(path: string): number {
  return Number.parseInt(path.slice(path.lastIndexOf('/') + 1), 10);
}

/** `migrations/0002_add_posts_summary.ts`: the next number, and a name after the first step. */
export function migrationPath(
  existing: readonly SourceText[],
  steps: readonly MigrationStep[],
): string {
  return nextPath(existing, lastOf(existing) === 0 ? 'init' : describe(steps));
}

/** A file with the next number and this name. */
export const nextPath = (existing: readonly SourceText[], name: string): string =>
  `migrations/${String(lastOf(existing) + 1).padStart(4, '0')}_${name}.ts`;

const lastOf = (existing: readonly SourceText[]): number =>
  Math.max(0, ...existing.map(({ file }) => numberOf(file)).filter(Number.isFinite));

function describe(steps: readonly MigrationStep[]): string {
  const [first] = steps;
  const text = first ? titleOf(first) : 'nothing';
  return `${text}${steps.length > 1 ? '_and_more' : ''}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 60);
}
