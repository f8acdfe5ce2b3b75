import { isIPv4, isIPv6 } from 'node:net';
import type { Column, Constraint, Operation, Write, WriteShape } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { listOf } from '../sql/list-of.ts';
import type { Model } from '../model.ts';
import { isChange, operatorsOf } from './operators.ts';

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

/** A problem with a field of an input. */
export interface InputError {
  /** The path of the field: `input.title`. */
  readonly field: string;
  /** The problem, without the field's name: `must be at least 3`. */
  readonly message: string;
}

/** Leaves out a problem that was found twice. */
export const uniqueErrors = (errors: readonly InputError[]): InputError[] => [
  ...new Map(errors.map((error) => [`${error.field} ${error.message}`, error])).values(),
];

/**
 * Throws one error for all problems: its message is the first one, and `extensions.errors` has all.
 *
 * @throws AppError `BAD_USER_INPUT`
 */
export function assertValid(errors: readonly InputError[]): void {
  const [first] = errors;
  if (!first) return;
  throw failure.invalid(`${first.field} ${first.message}`, {
    extensions: { field: first.field, errors },
  });
}

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
  assertValid(constraintErrors(constraint, value, field));
}

/** The problems of arguments that have constraints of their own. */
export const argumentErrors = (
  { args: declared }: Pick<Operation, 'args'>,
  args: Readonly<Record<string, unknown>>,
): InputError[] =>
  declared.flatMap(({ name, constraint }) => constraintErrors(constraint, args[name], name));

/** The problems of a value, or of the items of a list. */
export function constraintErrors(
  constraint: Constraint | undefined,
  value: unknown,
  field: string,
): InputError[] {
  if (!constraint || value === null || value === undefined) return [];
  if (Array.isArray(value))
    return [
      ...lengthErrors(constraint, value, field),
      ...value.flatMap((item) => constraintErrors(constraint, item, field)),
    ];
  const problem =
    typeof value === 'string'
      ? textProblem(constraint, value)
      : typeof value === 'number'
        ? numberProblem(constraint, value)
        : undefined;
  return problem === undefined ? [] : [{ field, message: problem }];
}

function lengthErrors(
  { minItems, maxItems }: Constraint,
  { length }: readonly unknown[],
  field: string,
): InputError[] {
  const items = (count: number) => `${count} item${count === 1 ? '' : 's'}`;
  if (minItems !== undefined && length < minItems)
    return [{ field, message: `must have at least ${items(minItems)}` }];
  return maxItems !== undefined && length > maxItems
    ? [{ field, message: `must have at most ${items(maxItems)}` }]
    : [];
}

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

/** The problems of an input object, and of what is created inside it. */
export function inputErrors(
  model: Model,
  shape: WriteShape,
  input: Readonly<Record<string, unknown>>,
  path = '',
): InputError[] {
  return shape.writes.flatMap((write): InputError[] => {
    const value = input[write.name];
    if (value === undefined || value === null) return [];
    const at = path + write.name;
    if (write.kind === 'nested') return nestedErrors(model, write, value, at);
    if (write.kind === 'ignored' || write.kind === 'keys')
      return constraintErrors(write.constraint, value, at);
    if (write.kind !== 'column') return [];
    const column = model.entity(shape.entity).columns.get(write.column);
    return changeErrors(column, write.constraint ?? column?.constraint, value, at);
  });
}

/** The problems of an input field that may hold operators. */
function changeErrors(
  column: Column | undefined,
  constraint: Constraint | undefined,
  value: unknown,
  field: string,
): InputError[] {
  if (!isChange(column, value)) return constraintErrors(constraint, value, field);
  const [given, other] = Object.entries(value).filter(([, operand]) => operand !== undefined);
  if (!given || other)
    return [{ field, message: `must have one of ${operatorsOf(column).join(', ')}` }];
  const [word, operand] = given;
  if (word === 'set') return constraintErrors(constraint, operand, field);
  if (operand === null) return [{ field: `${field}.${word}`, message: 'must not be null' }];
  if (word !== 'push') return [];
  return listOf(operand).flatMap((item) => constraintErrors(constraint, item, field));
}

function nestedErrors(
  model: Model,
  write: Extract<Write, { kind: 'nested' }>,
  value: unknown,
  at: string,
): InputError[] {
  return nestedInputs(write, value).flatMap(({ shape: id, input, path }) => {
    const shape = model.writes.get(id);
    return shape ? inputErrors(model, shape, input, `${at}.${path}.`) : [];
  });
}

/** An input object inside another input, and its path in the outer one. */
export interface NestedInput {
  readonly shape: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly path: string;
}

/** The inputs that create or update rows below a nested input. */
export function nestedInputs(
  { create, connectOrCreate, update }: Extract<Write, { kind: 'nested' }>,
  value: unknown,
): NestedInput[] {
  const given = (value ?? {}) as Readonly<Record<string, any>>;
  const below = (
    part: { readonly name: string; readonly shape: string } | undefined,
    at?: string,
  ) =>
    listOf(part && given[part.name]).flatMap((item) => {
      const input = at === undefined ? item : item?.[at];
      const path = [part?.name, at].filter((step) => step !== undefined).join('.');
      return part && input ? [{ shape: part.shape, input, path }] : [];
    });
  const made = connectOrCreate && {
    name: connectOrCreate.name,
    shape: connectOrCreate.create.shape,
  };
  return [
    ...below(create),
    ...below(made, connectOrCreate?.create.name),
    ...below(update, update?.data),
  ];
}
