import { isEnumType, Kind } from 'graphql';
import type { ASTNode, ConstObjectValueNode, ConstValueNode } from 'graphql';
import type { ColumnType, Comparison, Condition, FilterOperator } from '../model.ts';
import { isClaim, listOf, readJsonOperand, readOperand, type Comparing } from './comparisons.ts';
import { allOf, refuse, type Reading } from './condition-reading.ts';
import { scalarType, type EntityFact, type Facts, type FieldFact } from './facts.ts';
import {
  meantWord,
  LIST_OPERATORS,
  LOGICAL,
  OPERATORS,
  WORDS,
  type LogicalWord,
} from './filter-words.ts';

/** A column, or a member of the object that it holds. */
export interface ComparedField {
  readonly column: string;
  readonly name: string;
  readonly entity: EntityFact;
  readonly key: boolean;
  readonly field: FieldFact;
  readonly keys?: readonly string[];
}

/** The condition that a column meets the operators, or equals the value. */
export function compareColumn(
  reading: Reading,
  compared: ComparedField,
  value: ConstValueNode,
): Condition {
  const form = formOf(reading, compared);
  if (value.kind !== Kind.OBJECT || isClaim(value) || (form === 'json' && !hasWords(value)))
    return oneWord(reading, compared, { word: 'eq', at: value, of: value }, {});
  return compareWords(reading, compared, value, {});
}

/** The members beside the operators: `mode` and `path`. */
type Beside = Pick<Comparison, 'insensitive' | 'path'>;

const hasWords = ({ fields }: ConstObjectValueNode) =>
  fields.some(({ name }) => WORDS.some((word) => word === name.value));

function compareWords(
  reading: Reading,
  compared: ComparedField,
  { fields }: ConstObjectValueNode,
  outer: Beside,
): Condition {
  const beside = { ...outer, ...besideOf(reading, compared, fields) };
  const rest = fields.filter(({ name }) => name.value !== 'mode' && name.value !== 'path');
  return allOf(
    rest.map(({ name, value }) => {
      const logical = LOGICAL.find((word) => word === name.value);
      return logical
        ? logicalCondition(
            logical,
            listOf(value).map((item) => ofItem(reading, compared, item, beside)),
          )
        : oneWord(reading, compared, { word: name.value, at: name, of: value }, beside);
    }),
  );
}

function ofItem(
  reading: Reading,
  compared: ComparedField,
  item: ConstValueNode,
  beside: Beside,
): Condition {
  return item.kind === Kind.OBJECT && !isClaim(item)
    ? compareWords(reading, compared, item, beside)
    : oneWord(reading, compared, { word: 'eq', at: item, of: item }, beside);
}

/** Joins conditions. `and` of nothing is true, and `or` of nothing is false. */
export function logicalCondition(word: LogicalWord, of: readonly Condition[]): Condition {
  if (word === 'and') return allOf(of);
  const any: Condition = of.length === 1 && of[0] ? of[0] : { kind: 'any', of };
  return word === 'or' ? any : { kind: 'not', of: any };
}

function besideOf(
  reading: Reading,
  compared: ComparedField,
  fields: ConstObjectValueNode['fields'],
): Beside {
  const found: { insensitive?: true; path?: string[] } = {};
  for (const { name, value } of fields) {
    const text = 'value' in value ? String(value.value) : '';
    if (name.value === 'mode' && /^insensitive$/i.test(text)) found.insensitive = true;
    else if (name.value === 'mode' && !/^sensitive$/i.test(text))
      refuse(reading, value, {
        summary: `mode is not ${text || 'such a value'}`,
        fix: 'mode: INSENSITIVE',
      });
    if (name.value !== 'path') continue;
    const steps = listOf(value).map((step) => (step.kind === Kind.STRING ? step.value : undefined));
    if (formOf(reading, compared) === 'json' && !steps.includes(undefined))
      found.path = steps as string[];
    else
      refuse(reading, name, {
        summary: `${compared.entity.name}.${compared.name} has no path`,
        why: 'path leads to a value within JSON',
        fix: 'path: ["a", "0", "b"] of a field whose scalar is JSON',
      });
  }
  return found;
}

type Form = 'scalar' | 'list' | 'json' | 'object';

function formOf({ shapes: { facts } }: Reading, { field, key }: ComparedField): Form {
  const { kind, list } = field.type;
  if (key) return 'scalar';
  if (list) return kind === 'object' ? 'object' : 'list';
  if (kind === 'object') return 'object';
  return scalarType(field.named, facts) === 'json' ? 'json' : 'scalar';
}

const FITTING: Readonly<Record<Form, readonly string[]>> = {
  scalar: OPERATORS,
  list: LIST_OPERATORS,
  json: [...new Set([...OPERATORS, ...LIST_OPERATORS])],
  object: ['isNull', 'eq', 'ne'],
};

interface Word {
  readonly word: string;
  readonly at: ASTNode;
  readonly of: ConstValueNode;
}

function oneWord(
  reading: Reading,
  compared: ComparedField,
  { word, at, of }: Word,
  beside: Beside,
): Condition {
  const form = formOf(reading, compared);
  const operator = FITTING[form].find((each) => each === word) as FilterOperator | undefined;
  if (!operator) return unknownWord(reading, word, at, FITTING[form]);
  const comparing = comparingOf(reading, compared);
  const isWhole = form === 'object' && operator !== 'isNull' && of.kind !== Kind.NULL;
  if (isWhole) return unknownWord(reading, word, at, FITTING.object);
  const operand =
    form === 'list' || form === 'json'
      ? readJsonOperand(reading, comparing, operator, { node: of, form })
      : readOperand(reading, comparing, operator, of);
  if (!operand) return { kind: 'all', of: [] };
  const { column, keys } = compared;
  const member = keys && {
    keys,
    type: form === 'scalar' ? comparing.type : ('json' as const),
    ...(form === 'list' && { list: true as const }),
  };
  return {
    kind: 'compare',
    column,
    operator,
    ...beside,
    ...(member && { member }),
    ...(form === 'list' && { item: comparing.type }),
    ...operand,
  };
}

function unknownWord(reading: Reading, word: string, at: ASTNode, known: readonly string[]) {
  return refuse(reading, at, {
    summary: `A filter has no word ${word}${WORDS.some((each) => each === word) ? ' here' : ''}`,
    fix: meantWord(word, known),
  });
}

function comparingOf(
  { shapes: { facts } }: Reading,
  { name, entity, key, field }: ComparedField,
): Comparing {
  const { named } = field;
  const isKey = key || (named.name === 'ID' && entity.fields.get(field.name) === field);
  return {
    name: `${entity.name}.${name}`,
    type: isKey ? 'id' : typeOf(named, facts),
    key: isKey,
    values: !key && isEnumType(named) ? named.getValues().map((each) => each.name) : undefined,
  };
}

const typeOf = (named: FieldFact['named'], facts: Facts): ColumnType =>
  named.name === 'ID' ? 'text' : scalarType(named, facts);
