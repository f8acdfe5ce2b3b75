import { Kind } from 'graphql';
import type { ConstObjectValueNode, ConstValueNode, StringValueNode } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { ColumnType, FilterOperator, Operand } from '../model.ts';
import { refuse, type Reading } from './condition-reading.ts';
import type { EntityFact } from './facts.ts';
import { userEntity } from './user.ts';
import { moment } from '../scalars.ts';

/** The value to compare with, and its type. */
export interface Comparing {
  /** The name of the field, for messages. */
  readonly name: string;
  readonly type: ColumnType;
  /** Whether it holds a key. */
  readonly key: boolean;
  /** The values of an enum. */
  readonly values: readonly string[] | undefined;
}

/**
 * Whether a value is `{ claim: "a.b" }`. If the target type has a field of that name, it is a
 * condition on that field.
 */
export function isClaim(value: ConstValueNode, target?: EntityFact): boolean {
  return (
    value.kind === Kind.OBJECT &&
    value.fields.length === 1 &&
    value.fields[0]?.name.value === 'claim' &&
    !target?.fields.has('claim')
  );
}

const TEXT_WORDS = new Set<string>(['contains', 'startsWith', 'endsWith']);

/**
 * Reads the value of a comparison. It is undefined when it does not fit, which is then a problem.
 */
export function readOperand(
  reading: Reading,
  comparing: Comparing,
  operator: string,
  node: ConstValueNode,
): Operand | undefined {
  const wrong = (fix: string, why?: string) =>
    void refuse(reading, node, {
      summary: `${comparing.name} cannot be compared like this`,
      fix,
      why,
    });
  if (operator === 'isNull')
    return node.kind === Kind.BOOLEAN ? { value: node.value } : wrong('isNull: true');
  if (TEXT_WORDS.has(operator) && comparing.type !== 'text')
    return wrong(`eq, in, lt or gt`, `${operator} is about text`);
  if (isCaller(node, comparing)) return callerOperand(reading, comparing, operator, node);
  if (node.kind === Kind.OBJECT && isClaim(node)) return claimOperand(reading, node);
  if (operator === 'in' || operator === 'notIn')
    return listOperand(comparing, node) ?? wrong(`${operator}: [${exampleOf(comparing)}]`);
  if (node.kind === Kind.NULL)
    return operator === 'eq' || operator === 'ne'
      ? { value: null }
      : wrong('isNull: true, or eq: null', 'null has no order');
  const value = constant(comparing, node);
  return value === undefined
    ? wrong(`${operator}: ${exampleOf(comparing)}`, `it holds ${describe(comparing)}`)
    : { value };
}

const isCaller = (node: ConstValueNode, { values }: Comparing) =>
  node.kind === Kind.ENUM && node.value === 'CALLER' && !values?.includes('CALLER');

function callerOperand(
  reading: Reading,
  { name, key }: Comparing,
  operator: string,
  node: ConstValueNode,
): Operand | undefined {
  if (key && (operator === 'eq' || operator === 'ne') && userEntity(reading.shapes.facts))
    return { caller: true };
  refuse(reading, node, {
    summary: `${name} cannot be compared with CALLER`,
    why: 'CALLER is the key of the signed-in user',
    fix: '{ id: CALLER } of the user type, or a key of it',
  });
  return undefined;
}

/** AUTH_CLAIM_UNKNOWN: a claim that the manifest does not name. A named object has any member. */
function checkClaim(reading: Reading, node: StringValueNode): void {
  const { value } = node;
  const known = reading.shapes.facts.signIn?.claims;
  if (!known || known.some((path) => value === path || value.startsWith(`${path}.`))) return;
  refuse(reading, node, {
    code: 'AUTH_CLAIM_UNKNOWN',
    summary: `A token has no value ${value}`,
    why: 'auth.extend of the manifest names the values that src/extend.ts returns',
    fix: didYouMean(value, known) ?? `add ${value} to auth.extend, or one of ${known.join(', ')}`,
  });
}

/** The operators that take a list. */
const OF_LISTS: readonly FilterOperator[] = ['hasSome', 'hasEvery', 'in', 'notIn'];

const OF_BOOLEANS: readonly FilterOperator[] = ['isNull', 'isEmpty'];
const EQUALITY: readonly FilterOperator[] = ['eq', 'ne'];

/** Reads the value that a list or JSON is compared with. */
export function readJsonOperand(
  reading: Reading,
  comparing: Comparing,
  operator: FilterOperator,
  { node, form }: { readonly node: ConstValueNode; readonly form: 'list' | 'json' },
): Operand | undefined {
  if (OF_BOOLEANS.includes(operator)) return booleanOperand(reading, comparing, operator, node);
  if (node.kind === Kind.NULL && EQUALITY.includes(operator)) return { value: null };
  const takesClaim = form === 'json' || operator.startsWith('has');
  if (takesClaim && isClaimObject(node)) return claimOperand(reading, node);
  const whole = OF_LISTS.includes(operator) || (form === 'list' && operator !== 'has');
  const read = form === 'json' ? jsonOf : (item: ConstValueNode) => constant(comparing, item);
  const values = itemsOf(node, whole).map(read);
  if (node.kind !== Kind.NULL && !values.includes(undefined))
    return { value: whole ? values : values[0] };
  return void refuse(reading, node, {
    summary: `${comparing.name} cannot be compared like this`,
    fix: `${operator}: ${whole ? `[${exampleOf(comparing)}]` : exampleOf(comparing)}`,
    why: form === 'json' ? undefined : `it holds a list of ${describe(comparing)}`,
  });
}

const isClaimObject = (node: ConstValueNode): node is ConstObjectValueNode =>
  node.kind === Kind.OBJECT && isClaim(node);

const itemsOf = (node: ConstValueNode, whole: boolean) => (whole ? listOf(node) : [node]);

function booleanOperand(
  reading: Reading,
  { name }: Comparing,
  operator: string,
  node: ConstValueNode,
): Operand | undefined {
  if (node.kind === Kind.BOOLEAN) return { value: node.value };
  return void refuse(reading, node, {
    summary: `${name} cannot be compared like this`,
    fix: `${operator}: true`,
  });
}

/** A literal as JSON; undefined for the value of an enum, which JSON does not have. */
function jsonOf(node: ConstValueNode): unknown {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.LIST:
      return node.values.map(jsonOf);
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, jsonOf(value)]));
    default:
      return undefined;
  }
}

const CLAIM = /^[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*)*$/;

function claimOperand(reading: Reading, node: ConstObjectValueNode): Operand | undefined {
  const value = node.fields[0]?.value;
  if (value?.kind === Kind.STRING && CLAIM.test(value.value)) {
    checkClaim(reading, value);
    return { claim: value.value };
  }
  refuse(reading, node, {
    summary: 'A claim is named by its path',
    fix: '{ claim: "company.id" }',
  });
  return undefined;
}

function listOperand(comparing: Comparing, node: ConstValueNode): Operand | undefined {
  const values = listOf(node).map((item) =>
    item.kind === Kind.NULL ? null : constant(comparing, item),
  );
  return values.includes(undefined) ? undefined : { value: values };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
const WHOLE = /^-?\d+$/;

/** The literals in which values of a type are written; all others are texts. */
const LITERALS: Readonly<Partial<Record<ColumnType, readonly Kind[]>>> = {
  id: [Kind.STRING, Kind.INT],
  integer: [Kind.INT],
  real: [Kind.INT, Kind.FLOAT],
  bigint: [Kind.STRING, Kind.INT, Kind.FLOAT],
  decimal: [Kind.STRING, Kind.INT, Kind.FLOAT],
  boolean: [Kind.BOOLEAN],
};

/** The value in the form of the column; undefined when the column cannot hold it. */
function constant({ type, values }: Comparing, node: ConstValueNode): unknown {
  const text = 'value' in node ? String(node.value) : '';
  if (values) return node.kind === Kind.ENUM && values.includes(text) ? text : undefined;
  if (!(LITERALS[type] ?? [Kind.STRING]).includes(node.kind)) return undefined;
  if (type === 'boolean') return text === 'true';
  if (type === 'integer' || type === 'real') return Number(text);
  if (type === 'bigint') return WHOLE.test(text) ? text : undefined;
  if (type === 'decimal') return NUMBER.test(text) ? text : undefined;
  return ['text', 'id', 'uuid'].includes(type) ? text : moment(type, text);
}

/** The items of a list. A single value counts as a list with one item. */
export const listOf = (value: ConstValueNode): readonly ConstValueNode[] =>
  value.kind === Kind.LIST ? value.values : [value];

const EXAMPLES: Partial<Record<ColumnType, string>> = {
  id: '"7"',
  integer: '3',
  real: '0.5',
  bigint: '"3"',
  decimal: '"0.50"',
  boolean: 'true',
  timestamp: '"2026-01-31T12:00:00Z"',
  date: '"2026-01-31"',
  time: '"12:00:00"',
  json: '{}',
  uuid: '"00000000-0000-4000-8000-000000000000"',
  bytes: '""',
};

/**
 * A value of a type as GraphQL writes it, for advice.
 *
 * @example
 * exampleOf({ type: 'integer' }) // '3'
 */
export const exampleOf = ({
  type,
  values,
}: {
  readonly type: ColumnType;
  readonly values?: readonly string[] | undefined;
}): string => values?.[0] ?? EXAMPLES[type] ?? '"text"';

const describe = ({ type, values }: Comparing): string =>
  values ? `one of ${values.join(', ')}` : type === 'id' ? 'a key' : type;
