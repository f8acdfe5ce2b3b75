import { uniqueName } from './columns.ts';
import { Kind } from 'graphql';
import type { ConstObjectFieldNode, ConstObjectValueNode, ConstValueNode } from 'graphql';
import type { Condition, FilterOperator, RelatedLink } from '../model.ts';
import {
  allOf,
  NOTHING,
  refuse,
  type ConditionProblem,
  type Reading,
} from './condition-reading.ts';
import { compareColumn, logicalCondition, type ComparedField } from './condition-words.ts';
import { isClaim, listOf, readOperand, type Comparing } from './comparisons.ts';
import { isObjectValue, ofHeldObject } from './held-conditions.ts';
import type { EntityFact } from './facts.ts';
import { LOGICAL, meantWord, OPERATORS, type LogicalWord } from './filter-words.ts';
import type { Link } from './links.ts';
import { columnNames, namedColumn } from './named-columns.ts';
import { isListEnd, type Shapes } from './shapes.ts';

export interface ConditionReading {
  readonly condition: Condition;
  readonly problems: readonly ConditionProblem[];
}

/**
 * Reads the `where` of an `@auth`, `@list`, `@count` or `@exists`, and finds the parts that have no
 * meaning.
 *
 * @param code of findings about it.
 * @example
 * readCondition(shapes, task, parseConstValue('{ done: true }')).condition // { kind: 'compare', column: 'done', operator: 'eq', value: true }
 */
export function readCondition(
  shapes: Shapes,
  entity: EntityFact,
  node: ConstValueNode,
  code = 'AUTH_CONDITION',
): ConditionReading {
  const reading: Reading = { shapes, code, problems: [] };
  return { condition: ofObject(reading, entity, node), problems: reading.problems };
}

function ofObject(reading: Reading, entity: EntityFact, node: ConstValueNode): Condition {
  if (node.kind !== Kind.OBJECT) {
    return refuse(reading, node, {
      summary: `A condition on ${entity.name} is an object`,
      fix: '{ published: true }',
    });
  }
  return allOf(node.fields.map((field) => member(reading, entity, field)));
}

function member(reading: Reading, entity: EntityFact, node: ConstObjectFieldNode): Condition {
  const { shapes } = reading;
  const word = node.name.value;
  const field = entity.fields.get(word);
  const logical = LOGICAL.find((each) => each === word);
  if (!field && logical) return combined(reading, entity, logical, node.value);
  const link = field && shapes.links.byField.get(field);
  const target = link && shapes.facts.entities.get(link.entity);
  if (field?.directives.list?.where) return narrowed(reading, node);
  if (link && target && leadsOn(node.value, target)) {
    const related = relatedLink(link, entity);
    return link.kind !== 'own' && isListEnd(shapes, field)
      ? ofMany(reading, { target, link: related, node })
      : ofOne(reading, { target, link: related, node });
  }
  const column = namedColumn(shapes, entity, word);
  if (!column) return unknownField(reading, entity, node);
  const { value } = node;
  const compared: ComparedField = { ...column, entity, name: word };
  return isObjectValue(compared, value)
    ? ofHeldObject(reading, compared, value)
    : compareColumn(reading, compared, value);
}

function unknownField(
  reading: Reading,
  entity: EntityFact,
  { name }: ConstObjectFieldNode,
): Condition {
  const word = name.value;
  const known = [
    ...new Set([...columnNames(reading.shapes, entity), ...relations(reading, entity)]),
  ];
  const summary = entity.fields.has(word)
    ? `${entity.name}.${word} cannot be compared in a condition`
    : `${entity.name} has no field ${word}`;
  return refuse(reading, name, { summary, fix: meantWord(word, known, known.slice(0, 12)) });
}

const relations = ({ shapes }: Reading, entity: EntityFact) =>
  [...entity.fields.values()]
    .filter((field) => shapes.links.byField.has(field))
    .map(({ name }) => name);

/** Whether a value is a condition on the related rows. Otherwise it is a key. */
const leadsOn = (value: ConstValueNode, target: EntityFact): boolean =>
  value.kind === Kind.NULL ||
  (value.kind === Kind.OBJECT && !isClaim(value, target) && !comparesKey(value, target));

/** `{ ne: CALLER }` of a relation is about its key. */
const comparesKey = ({ fields }: ConstObjectValueNode, target: EntityFact): boolean =>
  fields.some(({ name }) => name.value !== 'isNull') &&
  fields.every(
    ({ name }) =>
      !target.fields.has(name.value) && OPERATORS.some((operator) => operator === name.value),
  );

function combined(
  reading: Reading,
  entity: EntityFact,
  word: LogicalWord,
  value: ConstValueNode,
): Condition {
  return logicalCondition(
    word,
    listOf(value).map((item) => ofObject(reading, entity, item)),
  );
}

/** A relation, and the condition on its rows. */
interface Reached {
  readonly target: EntityFact;
  /** Absent for a relation that conditions cannot follow. */
  readonly link: RelatedLink | undefined;
  readonly node: ConstObjectFieldNode;
}

/** How a condition follows a relation; undefined for a key that refers to several types. */
export function relatedLink(link: Link, entity: EntityFact): RelatedLink | undefined {
  if (link.kind === 'join') {
    const { table, schema, own, other } = link;
    return { kind: 'join', table, ...(schema !== undefined && { schema }), own, other };
  }
  const { column, typeColumn, references } = link.key;
  const to = references && { to: uniqueName(references) };
  if (link.kind === 'own')
    return typeColumn === undefined ? { kind: 'own', column, ...to } : undefined;
  return {
    kind: 'other',
    column,
    ...to,
    ...(typeColumn !== undefined && { type: { column: typeColumn, name: entity.name } }),
  };
}

/**
 * The condition that some row behind a link meets another one. If only its key is compared, that
 * key is a column of this row already.
 */
export function someOf(link: RelatedLink, target: EntityFact, of: Condition): Condition {
  const hides = target.directives.entity?.softDelete === true;
  if (link.kind === 'own' && !hides && of.kind === 'compare' && isKeyOnly(of))
    return { ...of, column: link.column };
  return { kind: 'related', quantifier: 'some', entity: target.name, link, of };
}

/** Whether a condition compares only the key, so that a row without a key does not meet it. */
const isKeyOnly = (of: Extract<Condition, { kind: 'compare' }>) =>
  of.column === 'id' && of.operator === 'eq' && !('value' in of && of.value === null);

function ofOne(reading: Reading, { target, link, node }: Reached): Condition {
  const { value } = node;
  if (!link) return severalTypes(reading, node);
  const any = someOf(link, target, NOTHING);
  if (value.kind === Kind.NULL) return { kind: 'not', of: any };
  const { isNull, rest } = withoutNull(value as ConstObjectValueNode);
  const some = someOf(link, target, ofObject(reading, target, rest));
  if (isNull === undefined) return some;
  const there: Condition = isNull ? { kind: 'not', of: any } : any;
  return rest.fields.length === 0 ? there : allOf([there, some]);
}

/** Separates `isNull: true` of a relation from the filter of its row. */
function withoutNull(value: ConstObjectValueNode) {
  const word = value.fields.find(({ name }) => name.value === 'isNull');
  const isNull = word?.value.kind === Kind.BOOLEAN ? word.value.value : undefined;
  const fields = isNull === undefined ? value.fields : value.fields.filter((each) => each !== word);
  return { isNull, rest: { ...value, fields } };
}

/** The `where` of such a list is for readers. A rule needs a complete condition of its own. */
const narrowed = (reading: Reading, { name }: ConstObjectFieldNode): Condition =>
  refuse(reading, name, {
    summary: `${name.value} is a list with a where of its own`,
    why: 'a condition follows whole relations',
    fix: 'name the relation itself, and write the where here too',
  });

const severalTypes = (reading: Reading, { name }: ConstObjectFieldNode): Condition =>
  refuse(reading, name, {
    summary: `${name.value} may lead to rows of several types`,
    why: 'a condition follows relations to one type',
    fix: 'a condition on another field',
  });

function ofMany(reading: Reading, reached: Reached): Condition {
  const { node, link, target } = reached;
  if (!link) return severalTypes(reading, node);
  const { value } = node;
  if (value.kind !== Kind.OBJECT)
    return refuse(reading, node.name, {
      summary: `${node.name.value} is a list, which is never null`,
      fix: `{ ${node.name.value}: { none: {} } }`,
    });
  return allOf(
    value.fields.map((word) => {
      const quantifier = word.name.value;
      if (quantifier === 'count') return counted(reading, { ...reached, link }, word.value);
      if (quantifier !== 'some' && quantifier !== 'every' && quantifier !== 'none')
        return refuse(reading, word.name, {
          summary: `${node.name.value} is a list: ${quantifier} does not say how many of it`,
          fix: `{ ${node.name.value}: { some: { … } } }, or every, none, count`,
        });
      const of = ofObject(reading, target, word.value);
      return quantifier === 'some'
        ? someOf(link, target, of)
        : { kind: 'related', quantifier, entity: target.name, link, of };
    }),
  );
}

const COUNTABLE: readonly FilterOperator[] = ['eq', 'ne', 'in', 'notIn', 'lt', 'lte', 'gt', 'gte'];

function counted(
  reading: Reading,
  { target, link, node }: Reached & { readonly link: RelatedLink },
  value: ConstValueNode,
): Condition {
  const words: readonly (readonly [string, ConstValueNode])[] =
    value.kind === Kind.OBJECT
      ? value.fields.map(({ name, value: of }) => [name.value, of])
      : [['eq', value]];
  return allOf(
    words.map(([operator, of]) => {
      const number: Comparing = { name: 'count', type: 'integer', key: false, values: undefined };
      const operand = readOperand(reading, number, operator, of);
      const known = COUNTABLE.find((each) => each === operator);
      if (!operand) return NOTHING;
      if (!known || !('value' in operand))
        return refuse(reading, of, {
          summary: `count of ${node.name.value} is compared with a whole number`,
          fix: `{ count: { gte: 1 } }, with ${COUNTABLE.join(' ')}`,
        });
      return { kind: 'count', entity: target.name, link, operator: known, value: operand.value };
    }),
  );
}
