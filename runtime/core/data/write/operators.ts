import type { Column } from '@twofold/schema';

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint', 'real', 'decimal']);

/** The operators of a column: words that make a new value from the old one. */
export function operatorsOf(column: Column | undefined): readonly string[] {
  if (!column || column.references || column.key || column.version) return [];
  if (column.list) return ['set', 'push'];
  return NUMBERS.has(column.type) ? ['set', 'increment', 'decrement', 'multiply'] : [];
}

export type Operators = Readonly<Record<string, unknown>>;

/** Whether a value is an object of operators, and not the value of a scalar of the project. */
export function isChange(column: Column | undefined, value: unknown): value is Operators {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return false;
  const words = operatorsOf(column);
  return words.length > 0 && Object.keys(value).every((word) => words.includes(word));
}
