import { Kind, type ConstObjectValueNode, type ConstValueNode, type NameNode } from 'graphql';
import type { Condition } from '../model.ts';
import { listOf } from './comparisons.ts';
import { allOf, refuse, type Reading } from './condition-reading.ts';
import { compareColumn, logicalCondition, type ComparedField } from './condition-words.ts';
import { LOGICAL, meantWord } from './filter-words.ts';
import { membersOf } from './filter-members.ts';

/** Whether a condition on an object without `id` continues with the object's own fields. */
export const isObjectValue = (
  { field }: ComparedField,
  value: ConstValueNode,
): value is ConstObjectValueNode =>
  field.type.kind === 'object' && !field.type.list && value.kind === Kind.OBJECT;

/** A condition on an object without `id`, which a column holds. */
export function ofHeldObject(
  reading: Reading,
  holder: ComparedField,
  node: ConstObjectValueNode,
): Condition {
  const members = membersOf(reading.shapes, holder.field.named.name);
  return allOf(
    node.fields.map((each) => {
      const { name, value } = each;
      const field = members.get(name.value);
      const logical = LOGICAL.find((word) => word === name.value);
      if (!field && logical) return logicalCondition(logical, heldItems(reading, holder, value));
      if (!field && name.value === 'isNull')
        return compareColumn(reading, holder, { ...node, fields: [each] });
      if (!field) return noMember(reading, holder, name, [...members.keys()]);
      const inner: ComparedField = {
        ...holder,
        name: `${holder.name}.${name.value}`,
        key: false,
        field,
        keys: [...(holder.keys ?? []), name.value],
      };
      return isObjectValue(inner, value)
        ? ofHeldObject(reading, inner, value)
        : compareColumn(reading, inner, value);
    }),
  );
}

const heldItems = (reading: Reading, holder: ComparedField, value: ConstValueNode): Condition[] =>
  listOf(value).map((item) =>
    item.kind === Kind.OBJECT
      ? ofHeldObject(reading, holder, item)
      : refuse(reading, item, {
          summary: `A condition on ${holder.name} is an object`,
          fix: '{ city: "London" }',
        }),
  );

function noMember(
  reading: Reading,
  { field, entity, name: holder }: ComparedField,
  name: NameNode,
  known: readonly string[],
): Condition {
  return refuse(reading, name, {
    summary: `${field.named.name} of ${entity.name}.${holder} has no field ${name.value}`,
    fix: meantWord(name.value, known),
  });
}
