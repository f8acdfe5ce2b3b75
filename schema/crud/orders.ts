import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { isDirection } from '../build/order-shapes.ts';
import { block, type CrudItem } from './item.ts';
import { enumName } from '../implied-lists.ts';
import { typeName } from './names.ts';
import { countedFields, relationFields, valueFields } from './stored-fields.ts';

/**
 * `PostOrder`; undefined if the type has nothing to sort by.
 *
 * @example orderItem(built, post)?.text // 'input PostOrder {\n  title: Direction …'
 */
export function orderItem(built: Built, entity: EntityFact): CrudItem | undefined {
  if (!isOrdered(built, entity)) return undefined;
  const name = typeName(built, entity, 'Order');
  const sorted = [
    ...valueFields(built, entity).map(({ field }) => field),
    ...countedFields(entity),
  ];
  const related = new Map(
    relationFields(built, entity)
      .filter(({ target, many }) => many || isOrdered(built, target))
      .map(({ field, target, many }) => [
        field,
        typeName(built, target, many ? 'ListOrder' : 'Order'),
      ]),
  );
  const direction = directionItem(built).name;
  const lines = [...entity.fields.values()].flatMap((field) => {
    const type = sorted.includes(field) ? direction : related.get(field);
    return type === undefined ? [] : [`${field.name}: ${type}`];
  });
  const text = block('input', name, lines);
  return { name, keyword: 'input', orEnum: true, of: entity, text };
}

const isOrdered = (built: Built, entity: EntityFact): boolean =>
  valueFields(built, entity).length > 0 || countedFields(entity).length > 0;

/** `PostListOrder`: sorts by the number of posts. */
export function listOrderItem(built: Built, entity: EntityFact): CrudItem {
  const name = typeName(built, entity, 'ListOrder');
  const text = block('input', name, [`count: ${directionItem(built).name}`]);
  return { name, keyword: 'input', of: entity, text };
}

/**
 * `PostField`: the values and relations for `distinct`.
 *
 * @example fieldItem(built, post)?.text // 'enum PostField {\n  TITLE\n  AUTHOR …'
 */
export function fieldItem(built: Built, entity: EntityFact): CrudItem | undefined {
  const values = new Set(valueFields(built, entity).map(({ field }) => field));
  const keys = new Set(
    relationFields(built, entity).flatMap(({ field, link }) => (link.kind === 'own' ? field : [])),
  );
  const lines = [...entity.fields.values()].filter((field) => values.has(field) || keys.has(field));
  const name = typeName(built, entity, 'Field');
  const names = [...new Set(lines.map((field) => enumName(field.name)))];
  return names.length === 0
    ? undefined
    : { name, keyword: 'enum', of: entity, text: block('enum', name, names) };
}

/** `enum Direction { ASC DESC }`; `SortDirection` where the schema has another `Direction`. */
export function directionItem({ facts: { schema, parsed } }: Built): CrudItem {
  const type = parsed.unknown.has('Direction') ? undefined : schema.getType('Direction');
  const name = type && !isDirection(type) ? 'SortDirection' : 'Direction';
  return { name, keyword: 'enum', text: block('enum', name, ['ASC', 'DESC']) };
}
