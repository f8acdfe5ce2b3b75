import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { block } from './item.ts';
import type { CrudItem } from './item.ts';
import { valueFields } from './stored-fields.ts';

/**
 * `PostOrder`, if the type has anything to sort by.
 *
 * @example orderItem(built, post)?.text // 'input PostOrder {\n  title: Direction …'
 */
export function orderItem(built: Built, entity: EntityFact): CrudItem | undefined {
  const lines = valueFields(built, entity).map(({ field }) => `${field.name}: Direction`);
  const name = `${entity.name}Order`;
  return lines.length === 0
    ? undefined
    : { name, keyword: 'input', orEnum: true, of: entity, text: block('input', name, lines) };
}

export const DIRECTION: CrudItem = {
  name: 'Direction',
  keyword: 'enum',
  text: block('enum', 'Direction', ['ASC', 'DESC']),
};
