import { isIPv4, isIPv6 } from 'node:net';
import type { Constraint, WriteShape } from '@twofold/schema';
import { failure, type AppError } from '../errors.ts';
import type { Model } from './model.ts';

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text),
  uri: URL.canParse,
  url: URL.canParse,
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
  time: (text) => /^\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/i.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  hostname: (text) =>
    text.length <= 253 &&
    /^[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9](?:[a-z0-9-]{0,62}))*$/i.test(text),
  slug: (text) => /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text),
  byte: (text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text),
};

/**
 * Checks a value against `@constraint`: each item of a list, and never null.
 *
 * @throws AppError `BAD_USER_INPUT` that names the field.
 */
export function assertConstraint(
  constraint: Constraint | undefined,
  value: unknown,
  field: string,
): void {
  if (!constraint || value === null || value === undefined) return;
  if (Array.isArray(value))
    return value.forEach((item) => assertConstraint(constraint, item, field));
  const problem =
    typeof value === 'string'
      ? textProblem(constraint, value)
      : typeof value === 'number'
        ? numberProblem(constraint, value)
        : undefined;
  if (problem) throw refused(field, problem);
}

const refused = (field: string, problem: string): AppError =>
  failure.invalid(`${field} ${problem}`, { extensions: { field } });

function numberProblem({ min, max }: Constraint, value: number): string | undefined {
  if (min !== undefined && value < min) return `must be at least ${min}`;
  return max !== undefined && value > max ? `must be at most ${max}` : undefined;
}

function textProblem(
  { minLength, maxLength, pattern, format, min, max }: Constraint,
  value: string,
): string | undefined {
  // Counts code points, as the database's own check does, and not UTF-16 units.
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
  if (minLength !== undefined && length < minLength)
    return `must have at least ${minLength} character${minLength === 1 ? '' : 's'}`;
  if (maxLength !== undefined && length > maxLength)
    return `must have at most ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `must match ${pattern}`;
  if (format !== undefined && FORMATS[format]?.(value) === false)
    return `must be a valid ${format}`;
  // Decimals and 64-bit integers arrive as text.
  return min === undefined && max === undefined
    ? undefined
    : numberProblem(
        { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
        Number(value),
      );
}

/** Checks an input object, and what is created inside it, before anything is written. */
export function assertInput(
  model: Model,
  shape: WriteShape,
  input: Readonly<Record<string, unknown>>,
  path = '',
): void {
  for (const write of shape.writes) {
    const value = input[write.name];
    if (value === undefined || value === null) continue;
    const at = path + write.name;
    if (write.kind === 'column')
      assertConstraint(
        write.constraint ?? model.entity(shape.entity).columns.get(write.column)?.constraint,
        value,
        at,
      );
    if (write.kind !== 'nested' || !write.create) continue;
    const nested = model.writes.get(write.create.shape);
    const given = (value as Record<string, unknown>)[write.create.name];
    const list =
      given === undefined || given === null ? [] : Array.isArray(given) ? given : [given];
    for (const item of list)
      if (nested)
        assertInput(model, nested, item as Record<string, unknown>, `${at}.${write.create.name}.`);
  }
}
