import {
  coerceInputValue,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';

/** What a value of a variable becomes; undefined when it is wrong, and what is wrong with it is graphql-js's to say. */
export type InputCoercer = (value: unknown) => unknown;

const COERCERS = new WeakMap<GraphQLInputType, InputCoercer>();

/**
 * `coerceInputValue` of graphql-js for one type. It lists the fields of an input object for every value, and a body of a
 * megabyte has room for 300,000 values; here that is done once for a type.
 *
 * @example coercerOf(type)({ name: 'Ada' }) // { name: 'Ada' }
 */
export function coercerOf(type: GraphQLInputType): InputCoercer {
  const known = COERCERS.get(type);
  if (known) return known;
  const made = createCoercer(type);
  COERCERS.set(type, made);
  return made;
}

const IN_CALLERS_ORDER = new WeakSet<GraphQLInputType>();

/** From now on the members of such an object stay in the order in which the caller wrote them: an `orderBy` means it. */
export function keepCallersOrder(type: GraphQLInputType): void {
  IN_CALLERS_ORDER.add(type);
}

export const hasCallersOrder = (type: GraphQLInputType): boolean => IN_CALLERS_ORDER.has(type);

/** The members of `object` in the order of `names`, then those that the schema gave. */
export function inOrder<T>(object: T, names: readonly string[]): T {
  if (typeof object !== 'object' || object === null) return object;
  const members = object as Record<string, unknown>;
  const ordered = new Input();
  for (const name of [...names, ...Object.keys(members)])
    if (name in members) ordered[name] = members[name];
  return ordered as T;
}

function createCoercer(type: GraphQLInputType): InputCoercer {
  if (!hasCallersOrder(type)) return createPlainCoercer(type);
  const coerce = createPlainCoercer(type);
  return (value) =>
    typeof value === 'object' && value !== null
      ? inOrder(coerce(value), Object.keys(value))
      : coerce(value);
}

function createPlainCoercer(type: GraphQLInputType): InputCoercer {
  if (isNonNullType(type)) return requiredCoercer(type.ofType);
  if (isListType(type)) return listCoercer(type.ofType);
  if (isLeafType(type)) return leafCoercer(type);
  return isInputObjectType(type) &&
    Object.values(type.getFields()).every(({ default: value }) => value === undefined)
    ? objectCoercer(type)
    : (value) => coerceInputValue(value, type);
}

function requiredCoercer(type: GraphQLInputType): InputCoercer {
  const coerce = coercerOf(type);
  return (value) => (value === null || value === undefined ? undefined : coerce(value));
}

function leafCoercer(type: GraphQLLeafType): InputCoercer {
  return (value) => {
    if (value === null || value === undefined) return null;
    try {
      return type.coerceInputValue(value);
    } catch {
      return undefined;
    }
  };
}

/** A value that is no list is a list of one. */
function listCoercer(type: GraphQLInputType): InputCoercer {
  const coerce = coercerOf(type);
  return (value) => {
    if (value === null || value === undefined) return null;
    const list: unknown[] = [];
    for (const item of Array.isArray(value) ? value : [value]) {
      const coerced = coerce(item);
      if (coerced === undefined) return undefined;
      list.push(coerced);
    }
    return list;
  };
}

/** As little of an object as `Object.create(null)`, and quicker to make. */
const Input = function Input() {} as unknown as new () => Record<string, unknown>;
Input.prototype = Object.create(null);

function objectCoercer(type: GraphQLInputObjectType): InputCoercer {
  const fields = Object.values(type.getFields()).map(asMember);
  const names = new Set(fields.map(({ name }) => name));
  // A field that is called as what every object has is never missing for graphql-js.
  const optional =
    !type.isOneOf && fields.every(({ required, name }) => !required && !(name in Object.prototype));
  return (value) => {
    if (value === null || value === undefined) return null;
    if (typeof value !== 'object' || Array.isArray(value)) return undefined;
    const given = Object.keys(value);
    if (!given.every((name) => names.has(name))) return undefined;
    const coerced =
      optional && given.length === 0
        ? new Input()
        : coerceMembers(fields, value as Record<string, unknown>);
    if (!coerced || !type.isOneOf) return coerced;
    return given.length === 1 && coerced[given[0] as string] !== null ? coerced : undefined;
  };
}

interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly coerce: InputCoercer;
}

/** Types may be members of themselves: a member's is looked up when it is first needed. */
function asMember(field: GraphQLInputField): Member {
  let coerce: InputCoercer | undefined;
  return {
    name: field.name,
    required: isRequiredInputField(field),
    coerce: (value) => (coerce ??= coercerOf(field.type))(value),
  };
}

function coerceMembers(
  fields: readonly Member[],
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const members = new Input();
  for (const { name, required, coerce } of fields) {
    const given = value[name];
    if (given === undefined) {
      if (required) return undefined;
      continue;
    }
    const coerced = coerce(given);
    if (coerced === undefined) return undefined;
    members[name] = coerced;
  }
  return members;
}
