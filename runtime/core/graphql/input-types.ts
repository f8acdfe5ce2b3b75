import {
  coerceInputValue,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
} from 'graphql';
import type { Constraint, JsonSchema } from '@twofold/schema';
import { asSent } from '../data/scalars/attach.ts';
import { constraintErrors } from '../data/write/constraint.ts';
import { failure } from '../errors.ts';
import type { InputError, InputTypes } from '../http/input-types.ts';
import {
  ownMembers,
  INPUT_VALUES,
  inputSize,
  isNestedBeyond,
  NESTING,
  tooLarge,
} from './input-size.ts';

type Constraints = Readonly<Record<string, Constraint>>;

/**
 * The input types of a schema, for bodies and query strings of the user's own routes.
 *
 * @param constraints by field: `LoginBody.email`.
 */
export function createInputTypes(schema: GraphQLSchema, constraints: Constraints = {}): InputTypes {
  const typeOf = (name: string) => {
    const type = schema.getType(name);
    return isInputObjectType(type) ? type : undefined;
  };
  return {
    has: (name) => typeOf(name) !== undefined,
    describe: (name) => describeObject(typeOf(name)!, { constraints, above: new Set() }),
    check: (name, given, as) => {
      const type = typeOf(name)!;
      assertBounded(type, given);
      const value = ownMembers(schema, as ? eachLeaf(type, given, LEAVES[as]) : given);
      const [first, ...rest] = findProblems(type, value, '', constraints);
      return first ? { errors: [first, ...rest] } : { value: coerceInputValue(value, type) };
    },
  };
}

/** The problems of a value. `field` is its path; messages do not repeat it. */
export function problemsOf(
  type: GraphQLInputType,
  value: unknown,
  field: string,
  constraints: Constraints = {},
): InputError[] {
  const found: Problems = { errors: [], constraints };
  findErrors(type, value, field, found);
  return found.errors;
}

/** The problems of a value, as sentences that name the field. */
export const findProblems = (...args: Parameters<typeof problemsOf>): InputError[] =>
  problemsOf(...args).map(({ field, message }) => ({
    field,
    message: `${field === '' ? 'the input' : field} ${message}`,
  }));

/** @throws AppError 400 */
function assertBounded(type: GraphQLInputObjectType, value: unknown): void {
  if (isNestedBeyond(value, NESTING))
    throw failure.badRequest(`The body is nested more than ${NESTING} levels deep`);
  if (inputSize(value, type) > INPUT_VALUES) throw failure.badRequest(tooLarge('The body'));
}

interface Problems {
  readonly errors: InputError[];
  readonly constraints: Constraints;
}

/** Adds every problem of a value. Fields are named as in the value, with dots for nested ones. */
function findErrors(type: GraphQLInputType, value: unknown, field: string, found: Problems): void {
  const add = (message: string) => void found.errors.push({ field, message });
  if (isNonNullType(type)) {
    if (value === undefined || value === null) return add('is required');
    return findErrors(type.ofType, value, field, found);
  }
  if (value === undefined || value === null) return;
  if (isListType(type)) {
    const items = Array.isArray(value) ? value : [value];
    return items.forEach((item, index) =>
      findErrors(type.ofType, item, Array.isArray(value) ? `${field}.${index}` : field, found),
    );
  }
  if (isInputObjectType(type)) return findObjectErrors(type, value, field, found);
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    if (!names.includes(value as string)) add(`must be one of ${names.join(', ')}`);
  } else if (!accepts(() => type.coerceInputValue(value))) add(`is not a valid ${type.name}`);
}

function findObjectErrors(
  type: GraphQLInputObjectType,
  value: unknown,
  path: string,
  found: Problems,
): void {
  const { errors } = found;
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return void errors.push({ field: path, message: 'must be an object' });
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    const given = (value as Record<string, unknown>)[field.name];
    if (given !== undefined || isRequiredInputField(field))
      findFieldErrors(field, given, { at: at(field.name), type, found });
  }
  for (const name of Object.keys(value).filter((each) => !Object.hasOwn(fields, each)))
    errors.push({ field: at(name.slice(0, 64)), message: 'is not a known field' });
  if (type.isOneOf && Object.values(value).filter((given) => given !== null).length !== 1)
    errors.push({
      field: path,
      message: `must have exactly one of ${Object.keys(fields).join(', ')}`,
    });
}

/** A value of the right type is also checked against the `@constraint` of its field. */
function findFieldErrors(
  { name, type }: GraphQLInputField,
  given: unknown,
  { at, type: owner, found }: { at: string; type: GraphQLInputObjectType; found: Problems },
): void {
  const { errors, constraints } = found;
  const before = errors.length;
  findErrors(type, given, at, found);
  const constraint = constraints[`${owner.name}.${name}`];
  if (!constraint || errors.length > before) return;
  errors.push(...constraintErrors(constraint, coerceInputValue(given, type), at));
}

/** Whether a scalar takes the value: it may throw, or answer nothing. */
export function accepts(coerce: () => unknown): boolean {
  try {
    return coerce() !== undefined;
  } catch {
    return false;
  }
}

type Leaf = (type: GraphQLLeafType, value: unknown) => unknown;

/** Changes each scalar and enum of a value; what has another shape is left to the check. */
function eachLeaf(type: GraphQLInputType, value: unknown, leaf: Leaf): unknown {
  if (isNonNullType(type)) return eachLeaf(type.ofType, value, leaf);
  if (value === null || value === undefined) return value;
  if (isListType(type)) return [value].flat().map((item) => eachLeaf(type.ofType, item, leaf));
  if (!isInputObjectType(type)) return leaf(type, value);
  if (typeof value !== 'object') return value;
  const fields = type.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => [
      name,
      fields[name] ? eachLeaf(fields[name].type, given, leaf) : given,
    ]),
  );
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** Reads text as the numbers and booleans that a type expects. Other text is left to the check. */
const textLeaf: Leaf = ({ name }, value) => {
  if (typeof value !== 'string') return value;
  if ((name === 'Int' || name === 'Float') && NUMBER.test(value)) return Number(value);
  return name === 'Boolean' ? (BOOLEANS[value] ?? value) : value;
};

const ownLeaf: Leaf = (type, value) => (isScalarType(type) ? asSent(type, value) : value);

const LEAVES = { text: textLeaf, own: ownLeaf };

const JSON_TYPES: Readonly<Record<string, string>> = {
  Int: 'integer',
  Float: 'number',
  Boolean: 'boolean',
};

interface Describing {
  readonly constraints: Constraints;
  /** The types that contain this one. A type inside itself is described only as an object. */
  readonly above: ReadonlySet<string>;
}

function describe(type: GraphQLInputType, describing: Describing): JsonSchema {
  if (isNonNullType(type)) return describe(type.ofType, describing);
  if (isListType(type)) return { type: 'array', items: describe(type.ofType, describing) };
  if (isInputObjectType(type)) return describeObject(type, describing);
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  return { type: JSON_TYPES[type.name] ?? 'string' };
}

/** A type inside itself is described as an object. */
function describeObject(
  type: GraphQLInputObjectType,
  { constraints, above }: Describing,
): JsonSchema {
  if (above.has(type.name)) return { type: 'object' };
  const within = { constraints, above: new Set([...above, type.name]) };
  const fields = Object.values(type.getFields());
  const required = fields.filter(isRequiredInputField).map(({ name }) => name);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      fields.map((field) => [
        field.name,
        constrained(describe(field.type, within), constraints[`${type.name}.${field.name}`]),
      ]),
    ),
  };
}

/** Adds the rules of `@constraint`; for a list, also the rules for its items. */
function constrained(schema: JsonSchema, constraint: Constraint | undefined): JsonSchema {
  if (!constraint) return schema;
  const { min, max, minItems, maxItems, ...ofText } = constraint;
  const ofValue = {
    ...ofText,
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  };
  if (schema.type !== 'array') return { ...schema, ...ofValue };
  return {
    ...schema,
    items: { ...(schema.items as JsonSchema), ...ofValue },
    ...(minItems !== undefined && { minItems }),
    ...(maxItems !== undefined && { maxItems }),
  };
}
