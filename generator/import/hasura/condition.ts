import { first } from '@twofold/schema';
import type { CatalogColumn } from '@twofold/database';
import type { Importing, TypeInProgress } from '../database/types.ts';
import { literalOf } from './literals.ts';
import type { Reach, Reaches } from './relationships.ts';

/**
 * A condition of Hasura as one of ours. Hasura's has three values (a comparison with null is
 * unknown) and ours has two, so a negation is carried to the comparisons, which say what they mean
 * of null.
 */
export type Where =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Where[] }
  /** A member of a filter: `published: true`. */
  | { readonly kind: 'member'; readonly name: string; readonly value: string };

/** A condition that every row meets. */
export const ALWAYS: Where = { kind: 'and', of: [] };
const NEVER: Where = { kind: 'or', of: [] };

export const isAlways = (where: Where): boolean => where.kind === 'and' && where.of.length === 0;
export const isNever = (where: Where): boolean => where.kind === 'or' && where.of.length === 0;

/** The type whose rows a condition is about, and what the condition may name. */
export interface Place {
  readonly importing: Importing;
  readonly reaches: Reaches;
  /** The type whose rows sign in, if there is one. */
  readonly user: TypeInProgress | undefined;
  /** Gets the session variables that a claim has to give. */
  readonly claims: Set<string>;
}

/** Thrown for a part of a condition that our schema cannot express. */
export class Inexpressible extends Error {}

/**
 * Translates a condition on the rows of a type.
 *
 * @throws Inexpressible with the part that cannot be said
 * @example conditionOf({ published: { _eq: true } }, post, place) // { kind: 'member', name: 'published', value: 'true' }
 */
export const conditionOf = (given: unknown, type: TypeInProgress, place: Place): Where =>
  read(given, { type, place, negated: false });

interface Reading {
  readonly type: TypeInProgress;
  readonly place: Place;
  readonly negated: boolean;
}

function read(given: unknown, reading: Reading): Where {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Inexpressible(`${JSON.stringify(given)} is no condition`);
  const parts = Object.entries(given).map(([key, value]) => member(key, value, reading));
  return joined(parts, reading.negated ? 'or' : 'and');
}

/** Joins conditions. Those that are always or never true are resolved. */
function joined(parts: readonly Where[], kind: 'and' | 'or'): Where {
  const [decides, empty] = kind === 'and' ? [isNever, isAlways] : [isAlways, isNever];
  const decided = parts.find(decides);
  if (decided) return decided;
  const flat = parts.filter((part) => !empty(part));
  const of = flat.flatMap((part) => (part.kind === kind ? part.of : [part]));
  return of.length === 1 ? first(of) : { kind, of };
}

const WORDS: Readonly<Record<string, 'and' | 'or' | 'not' | undefined>> = {
  _and: 'and',
  _or: 'or',
  _not: 'not',
};

function member(key: string, value: unknown, reading: Reading): Where {
  const { type, place, negated } = reading;
  const word = WORDS[operatorName(key)];
  if (word === 'not') return read(value, { ...reading, negated: !negated });
  if (word) {
    if (!Array.isArray(value)) throw new Inexpressible(`${key}: ${JSON.stringify(value)}`);
    const flipped = word === 'and' ? 'or' : 'and';
    return joined(
      value.map((each) => read(each, reading)),
      negated ? flipped : word,
    );
  }
  const reach = place.reaches.get(type)?.get(key);
  return reach ? throughRelation(reach, value, reading) : onColumn(key, value, reading);
}

/** Operators of the first versions begin with `$`. */
const operatorName = (key: string) => key.replace(/^\$/, '_');

/** Asks whether a related row exists. The answer is never null, so its opposite is simple. */
function throughRelation(
  { field, to, list }: Reach,
  value: unknown,
  { place, negated }: Reading,
): Where {
  const inner = read(value, { type: to, place, negated: false });
  if (isNever(inner)) return negated ? ALWAYS : NEVER;
  if (list) return memberOf(field, `{ ${negated ? 'none' : 'some'}: ${printWhere(inner)} }`);
  if (isAlways(inner)) return memberOf(field, `{ isNull: ${negated} }`);
  const there = memberOf(field, printWhere(inner));
  return negated ? memberOf('not', printWhere(there)) : there;
}

const memberOf = (name: string, value: string): Where => ({ kind: 'member', name, value });

/** A column in a comparison, and the field for it. */
interface Compared {
  readonly column: CatalogColumn;
  readonly field: string;
  /** The type of the field, without `!`: a scalar, an enum, or the type that a key leads to. */
  readonly type: string;
  /** Whether the column refers to the type whose rows sign in. */
  readonly ofUser: boolean;
}

function onColumn(name: string, value: unknown, reading: Reading): Where {
  const compared = comparedColumn(name, reading);
  const operators =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [['_eq', value] as const];
  const { negated } = reading;
  return joined(
    operators.map(([operator, operand]) =>
      comparison(compared, { operator: operatorName(operator), operand }, reading),
    ),
    negated ? 'or' : 'and',
  );
}

function comparedColumn(name: string, { type, place }: Reading): Compared {
  const column = type.table.columns.find((each) => each.name === name);
  const field = column && type.columns.get(name);
  const made = type.fields.find((each) => each.name === field);
  if (!column || field === undefined || !made)
    throw new Inexpressible(`${name} is no field of ${type.name}`);
  if (made.type.startsWith('[')) throw new Inexpressible(`${name} is a list`);
  const key = [...type.relations].find(([, each]) => each === field)?.[0];
  const target = key && place.importing.types.get(typeKey(key.table));
  const isKey = key && target?.columns.get(key.references[0] ?? '') === 'id';
  if (key && !isKey) throw new Inexpressible(`${name} leads to a column that is not the key`);
  const user = place.user;
  const ofUser = user !== undefined && (field === 'id' ? type === user : target === user);
  return { column, field, type: made.type.replace('!', ''), ofUser };
}

const typeKey = ({ schema, name }: { readonly schema: string; readonly name: string }) =>
  JSON.stringify([schema, name]);

interface Operation {
  readonly operator: string;
  readonly operand: unknown;
}

/**
 * Hasura's operators: each with its opposite, and our operator. The opposite of an unknown
 * comparison stays unknown.
 */
const OPERATORS: Readonly<
  Record<string, { readonly word: string; readonly not: string } | undefined>
> = {
  _eq: { word: 'eq', not: 'ne' },
  _neq: { word: 'ne', not: 'eq' },
  _ne: { word: 'ne', not: 'eq' },
  _gt: { word: 'gt', not: 'lte' },
  _gte: { word: 'gte', not: 'lt' },
  _lt: { word: 'lt', not: 'gte' },
  _lte: { word: 'lte', not: 'gt' },
  _in: { word: 'in', not: 'notIn' },
  _nin: { word: 'notIn', not: 'in' },
};

/** Our operators that are true for null. Hasura's comparison is unknown there. */
const HOLDS_FOR_NULL = new Set(['ne', 'notIn']);

function comparison(
  compared: Compared,
  { operator, operand }: Operation,
  { place, negated }: Reading,
): Where {
  const { column, field } = compared;
  if (operator === '_is_null') {
    if (typeof operand !== 'boolean') throw new Inexpressible(`_is_null: ${String(operand)}`);
    return memberOf(field, `{ isNull: ${operand !== negated} }`);
  }
  const known = OPERATORS[operator];
  if (!known) throw new Inexpressible(`${column.name}: { ${operator}: … }`);
  const word = negated ? known.not : known.word;
  const value = operandOf(compared, { word, operand }, place);
  if (value === null) return word === 'in' ? NEVER : ALWAYS;
  const shown = word === 'eq' ? value : `{ ${word}: ${value} }`;
  const stated = memberOf(field, shown);
  return HOLDS_FOR_NULL.has(word) && column.nullable
    ? joined([stated, notNull(compared)], 'and')
    : stated;
}

const notNull = ({ field, column }: Compared): Where =>
  column.nullable ? memberOf(field, '{ isNull: false }') : ALWAYS;

/** @returns the value as SDL, or null for a list of nothing */
function operandOf(
  compared: Compared,
  { word, operand }: { readonly word: string; readonly operand: unknown },
  place: Place,
): string | null {
  if (isSession(operand)) return sessionOperand(compared, { word, variable: operand }, place);
  if (word !== 'in' && word !== 'notIn') return literal(compared, operand, place);
  if (!Array.isArray(operand))
    throw new Inexpressible(`${compared.column.name}: a list is no list`);
  if (operand.some(isSession))
    throw new Inexpressible(`${compared.column.name}: a session variable in a list`);
  if (operand.length === 0) return null;
  return `[${operand.map((each) => literal(compared, each, place)).join(', ')}]`;
}

const isSession = (value: unknown): value is string =>
  typeof value === 'string' && /^x-hasura-/i.test(value);

function literal({ column, type }: Compared, value: unknown, { importing }: Place): string {
  const text = literalOf(value, { type, column, importing });
  if (text === undefined)
    throw new Inexpressible(`${column.name} is compared with ${JSON.stringify(value)}`);
  return text;
}

/** The id of the signed-in user where a key of the user is compared; else a value of the token. */
function sessionOperand(
  { ofUser }: Compared,
  { word, variable }: { readonly word: string; readonly variable: string },
  { claims }: Place,
): string {
  const isCaller = /^x-hasura-user-id$/i.test(variable);
  if (isCaller && ofUser && (word === 'eq' || word === 'ne')) return 'CALLER';
  claims.add(variable);
  return `{ claim: "${claimOf(variable)}" }`;
}

/** @example claimOf('X-Hasura-Org-Id') // 'org_id' */
export const claimOf = (variable: string): string =>
  variable
    .replace(/^x-hasura-/i, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');

/** The value of `where:` as SDL. */
export function printWhere(where: Where): string {
  if (where.kind === 'member') return `{ ${where.name}: ${where.value} }`;
  if (where.of.length === 0) return where.kind === 'and' ? '{}' : '{ or: [] }';
  if (where.kind === 'or') return `{ or: [${where.of.map(printWhere).join(', ')}] }`;
  const members = where.of.flatMap((each) => (each.kind === 'member' ? [each] : []));
  const names = new Set(members.map(({ name }) => name));
  const isPlain = members.length === where.of.length && names.size === members.length;
  return isPlain
    ? `{ ${members.map(({ name, value }) => `${name}: ${value}`).join(', ')} }`
    : `{ and: [${where.of.map(printWhere).join(', ')}] }`;
}
