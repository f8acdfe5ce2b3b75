import { isEnumType, Kind } from 'graphql';
import type { ASTNode, ConstObjectValueNode, ConstValueNode } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { ColumnType, Condition, Operand } from '../model.ts';
import { scalarType } from './scalar-type.ts';
import { allOf, refuse, type Reading } from './condition-reading.ts';
import type { EntityFact } from './facts.ts';
import { knownWord, OPERATORS } from './filter-words.ts';
import type { NamedColumn } from './shapes.ts';
import { userEntity } from './user.ts';

/** What a value is compared with. */
export interface Comparing {
  /** The name of the field, for messages. */
  readonly name: string;
  readonly type: ColumnType;
  /** Whether it holds a key. */
  readonly key: boolean;
  /** The values of an enum. */
  readonly values: readonly string[] | undefined;
}

interface Compared extends NamedColumn {
  readonly entity: EntityFact;
  readonly name: string;
}

/** `{ claim: "a.b" }`, unless the type that it stands for has a field of that name. */
export function isClaim(value: ConstValueNode, target?: EntityFact): boolean {
  return (
    value.kind === Kind.OBJECT &&
    value.fields.length === 1 &&
    value.fields[0]?.name.value === 'claim' &&
    !target?.fields.has('claim')
  );
}

/** The condition that a column meets the words, or equals the value. */
export function compareColumn(
  reading: Reading,
  compared: Compared,
  value: ConstValueNode,
): Condition {
  const words =
    value.kind === Kind.OBJECT && !isClaim(value)
      ? value.fields.map(({ name, value: of }) => ({ word: name.value, at: name, of }))
      : [{ word: 'eq', at: value, of: value }];
  const comparing = comparingOf(reading, compared);
  return allOf(
    words.map(({ word, at, of }) => {
      const operator = OPERATORS.find((each) => each === word);
      if (!operator) return unknownWord(reading, word, at);
      const operand = readOperand(reading, comparing, operator, of);
      return operand
        ? { kind: 'compare', column: compared.column, operator, ...operand }
        : { kind: 'all', of: [] };
    }),
  );
}

function unknownWord(reading: Reading, word: string, at: ASTNode) {
  const ours = knownWord(word);
  return refuse(reading, at, {
    summary: `A filter has no word ${word}`,
    fix: ours ? `write ${ours}` : (didYouMean(word, OPERATORS) ?? `one of ${OPERATORS.join(', ')}`),
  });
}

function comparingOf(
  { shapes: { facts } }: Reading,
  { name, entity, key, field, scalar }: Compared,
): Comparing {
  const { named } = field;
  return {
    name: `${entity.name}.${name}`,
    type: key || scalar === 'ID' ? 'id' : scalarType(named, facts),
    key: key || scalar === 'ID',
    values: !key && isEnumType(named) ? named.getValues().map((each) => each.name) : undefined,
  };
}

const TEXT_WORDS = new Set<string>(['contains', 'startsWith', 'endsWith']);

/** The value of a comparison; undefined when it does not fit, which is then a problem. */
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

const CLAIM = /^[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*)*$/;

function claimOperand(reading: Reading, node: ConstObjectValueNode): Operand | undefined {
  const value = node.fields[0]?.value;
  if (value?.kind === Kind.STRING && CLAIM.test(value.value)) return { claim: value.value };
  refuse(reading, node, {
    summary: 'A claim is named by its path',
    fix: '{ claim: "company.id" }',
  });
  return undefined;
}

function listOperand(comparing: Comparing, node: ConstValueNode): Operand | undefined {
  const items = node.kind === Kind.LIST ? node.values : [node];
  const values = items.map((item) => (item.kind === Kind.NULL ? null : constant(comparing, item)));
  return values.includes(undefined) ? undefined : { value: values };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
const WHOLE = /^-?\d+$/;

/** The value as a column of the type keeps it; undefined when it is none. */
function constant({ type, values }: Comparing, node: ConstValueNode): unknown {
  const text = 'value' in node ? String(node.value) : '';
  const isNumber = node.kind === Kind.INT || node.kind === Kind.FLOAT;
  if (values) return node.kind === Kind.ENUM && values.includes(text) ? text : undefined;
  if (node.kind === Kind.BOOLEAN) return type === 'boolean' ? node.value : undefined;
  if (node.kind !== Kind.STRING && !isNumber) return undefined;
  switch (type) {
    case 'text':
      return isNumber ? undefined : text;
    case 'id':
      return node.kind === Kind.FLOAT ? undefined : text;
    case 'uuid':
      return isNumber ? undefined : text;
    case 'integer':
      return node.kind === Kind.INT ? Number(text) : undefined;
    case 'real':
      return isNumber ? Number(text) : undefined;
    case 'bigint':
      return WHOLE.test(text) ? text : undefined;
    case 'decimal':
      return NUMBER.test(text) ? text : undefined;
    default:
      return isNumber ? undefined : moment(type, text);
  }
}

function moment(type: ColumnType, text: string): string | undefined {
  if (type === 'timestamp')
    return Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined;
  return type === 'time' && /^\d\d:\d\d/.test(text) ? text : undefined;
}

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
};

const exampleOf = ({ type, values }: Comparing): string =>
  values?.[0] ?? EXAMPLES[type] ?? '"text"';

const describe = ({ type, values }: Comparing): string =>
  values ? `one of ${values.join(', ')}` : type === 'id' ? 'a key' : type;
