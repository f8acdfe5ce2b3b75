import type { Column, Project } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { checkText } from '../base/identity-rules.ts';

/**
 * Reads the fields of the user entity that registration accepts besides its own, for instance
 * columns that the schema requires.
 *
 * @returns columns of the entity's table with their values.
 * @throws AppError 400 that names the field.
 */
export function readRegisterFields(
  project: Project,
  entityName: string | null,
  fields: readonly string[],
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entity = project.entities.find(({ name }) => name === entityName);
  const row: Record<string, unknown> = {};
  for (const field of fields) {
    const column = entity?.columns.find((each) => each.field === field || each.name === field);
    if (!column) continue;
    const value = body[field];
    if (value === undefined || value === null) {
      if (column.required && !column.default) throw failure.invalid(`${field} is required`);
      continue;
    }
    row[column.name] = checkValue(field, column, value);
  }
  return row;
}

const NUMBERS = new Set(['integer', 'bigint', 'real', 'decimal']);

function checkValue(field: string, column: Column, value: unknown): unknown {
  if (column.type === 'json' || column.list) return JSON.stringify(value);
  if (column.type === 'boolean')
    return typeof value === 'boolean' ? value : refuse(field, 'must be boolean');
  if (NUMBERS.has(column.type)) return checkNumber(field, column, value);
  if (typeof value !== 'string') return refuse(field, 'must be string');
  return checkString(field, column, value);
}

function checkNumber(field: string, { type, constraint = {} }: Column, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return refuse(field, 'must be number');
  if ((type === 'integer' || type === 'bigint') && !Number.isSafeInteger(value))
    return refuse(field, 'must be integer');
  if (constraint.min !== undefined && value < constraint.min)
    return refuse(field, `must be >= ${constraint.min}`);
  if (constraint.max !== undefined && value > constraint.max)
    return refuse(field, `must be <= ${constraint.max}`);
  return value;
}

function checkString(
  field: string,
  { type, values, constraint = {} }: Column,
  text: string,
): string {
  checkText(field, text);
  const { minLength = 0, maxLength = Infinity, pattern } = constraint;
  if (values && !values.includes(text)) return refuse(field, `must be one of ${values.join(', ')}`);
  if ([...text].length < minLength)
    return refuse(field, `must not have fewer than ${minLength} characters`);
  if ([...text].length > maxLength)
    return refuse(field, `must not have more than ${maxLength} characters`);
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text))
    return refuse(field, `must match pattern "${pattern}"`);
  if ((type === 'timestamp' || type === 'date') && Number.isNaN(Date.parse(text)))
    return refuse(field, 'must be a date');
  return text;
}

function refuse(field: string, why: string): never {
  throw failure.invalid(`${field} ${why}`);
}
