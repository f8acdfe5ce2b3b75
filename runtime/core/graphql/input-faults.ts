import {
  type GraphQLError,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  GraphQLNonNull,
  GraphQLScalarType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  validateInputValue,
} from 'graphql';

type Keys = readonly (string | number)[];
type Members = Readonly<Record<string, unknown>>;

/** Told of each thing that is wrong, and where in the value it is. It may throw to hear no more. */
export type OnFault = (error: GraphQLError, at: Keys) => void;

/** Where something stands in a value, the innermost key first. */
type Place = { readonly within: Place; readonly key: string | number } | undefined;

/** `key` is the value's own in what it is in: a place is made where something is wrong, and for what has parts. */
type Finder = (
  value: unknown,
  within: Place,
  key: string | number | undefined,
  report: OnFault,
) => void;

/**
 * Says what is wrong with a value of a variable: the words of graphql-js's `validateInputValue`, in its order. It looks at
 * everything in the value the slow way; here what is right is passed over, and it is asked about the parts that are wrong.
 *
 * @example findFaults({ name: 1 }, type, (error, at) => errors.push(`${at.join('.')}: ${error.message}`));
 */
export function findFaults(value: unknown, type: GraphQLInputType, report: OnFault): void {
  finderOf(type)(value, undefined, undefined, report);
}

const FINDERS = new WeakMap<GraphQLInputType, Finder>();

function finderOf(type: GraphQLInputType): Finder {
  const known = FINDERS.get(type);
  if (known) return known;
  const made = createFinder(type);
  FINDERS.set(type, made);
  return made;
}

function createFinder(type: GraphQLInputType): Finder {
  if (isNonNullType(type)) {
    const find = finderOf(type.ofType);
    return (value, within, key, report) =>
      isNothing(value)
        ? word(value, type, placeOf(within, key), report)
        : find(value, within, key, report);
  }
  const find = isListType(type)
    ? listFinder(type.ofType)
    : isLeafType(type)
      ? leafFinder(type)
      : objectFinder(type as GraphQLInputObjectType);
  return (value, within, key, report) =>
    isNothing(value) ? undefined : find(value, within, key, report);
}

const placeOf = (within: Place, key: string | number | undefined): Place =>
  key === undefined ? within : { within, key };

const isNothing = (value: unknown) => value === null || value === undefined;

/** What graphql-js says of a part. */
function word(value: unknown, type: GraphQLInputType, place: Place, report: OnFault): void {
  validateInputValue(value, type, (error, at) => report(error, [...keysOf(place), ...at]), true);
}

function keysOf(place: Place): Keys {
  const keys: (string | number)[] = [];
  for (let each = place; each; each = each.within) keys.unshift(each.key);
  return keys;
}

function leafFinder(type: GraphQLLeafType): Finder {
  return (value, within, key, report) => {
    if (!isTaken(type, value)) word(value, type, placeOf(within, key), report);
  };
}

function isTaken(type: GraphQLLeafType, value: unknown): boolean {
  try {
    return type.coerceInputValue(value, true) !== undefined;
  } catch {
    return false;
  }
}

/** A value that is no list is a list of one, at the same place. */
function listFinder(type: GraphQLInputType): Finder {
  const find = finderOf(type);
  return (value, within, key, report) => {
    if (!isIterable(value)) return find(value, within, key, report);
    const place = placeOf(within, key);
    let index = 0;
    for (const item of value) find(item, place, index++, report);
  };
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && typeof (value as Iterable<unknown>)[Symbol.iterator] === 'function';

function objectFinder(type: GraphQLInputObjectType): Finder {
  const members = Object.values(type.getFields()).map(asMember);
  const names = new Set(members.map(({ name }) => name));
  const needed = members.filter(({ required }) => required).map(({ name }) => name);
  const shallow = shallowOf(type);
  const isWhole = (given: Members) =>
    !type.isOneOf &&
    needed.every((name) => given[name] !== undefined) &&
    Object.keys(given).every((name) => names.has(name));
  return (value, within, key, report) => {
    const place = placeOf(within, key);
    if (typeof value !== 'object' || Array.isArray(value)) return word(value, type, place, report);
    const given = value as Members;
    if (isWhole(given)) {
      for (const { name, find } of members)
        if (given[name] !== undefined) find(given[name], place, name, report);
      return;
    }
    const own = ownFaults(given, type, shallow).values();
    const say = ({ error, at }: OwnFault) => report(error, [...keysOf(place), ...at]);
    for (const { name, required, find } of members) {
      if (given[name] !== undefined) find(given[name], place, name, report);
      else if (required) say(own.next().value as OwnFault);
    }
    for (const fault of own) say(fault);
  };
}

interface OwnFault {
  readonly error: GraphQLError;
  readonly at: Keys;
}

/** Of the object itself: first the members that it lacks, in the order of the type. */
function ownFaults(
  value: Members,
  { isOneOf }: GraphQLInputObjectType,
  shallow: GraphQLInputObjectType,
): OwnFault[] {
  const own: OwnFault[] = [];
  validateInputValue(
    value,
    shallow,
    (error, at) => void (at.length === 0 || isOneOf ? own.push({ error, at }) : undefined),
    true,
  );
  return own;
}

const ANYTHING = new GraphQLScalarType({ name: 'Anything', coerceInputValue: () => true });

/** The type with members that may be anything: of it graphql-js finds nothing wrong but with the object itself. */
function shallowOf(type: GraphQLInputObjectType): GraphQLInputObjectType {
  const asAnything = (field: GraphQLInputField) =>
    [
      field.name,
      { type: isRequiredInputField(field) ? new GraphQLNonNull(ANYTHING) : ANYTHING },
    ] as const;
  return new GraphQLInputObjectType({
    name: type.name,
    isOneOf: type.isOneOf,
    fields: Object.fromEntries(Object.values(type.getFields()).map(asAnything)),
  });
}

/** Types may be members of themselves: a member's is looked up when it is first needed. */
function asMember(field: GraphQLInputField): {
  readonly name: string;
  readonly required: boolean;
  readonly find: Finder;
} {
  let find: Finder | undefined;
  return {
    name: field.name,
    required: isRequiredInputField(field),
    find: (value, within, key, report) =>
      (find ??= finderOf(field.type))(value, within, key, report),
  };
}
