import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { uniqueKeys } from '../build/unique-keys.ts';
import { block, type CrudItem } from './item.ts';
import { typeName } from './names.ts';

/**
 * The arguments that name a row: `id`, or the fields of the key.
 *
 * @example keyArguments(built, post) // ['id: ID!']
 */
export function keyArguments(built: Built, entity: EntityFact): string[] {
  const id = entity.fields.get('id');
  if (id) return [`id: ${id.named.name}!`];
  return (entity.key ?? []).flatMap((name) => {
    const field = entity.fields.get(name);
    if (!field) return [];
    return built.links.byField.has(field) ? [`${name}Id: ID!`] : [`${name}: ${field.named.name}!`];
  });
}

/**
 * `PostKeyInput`: the fields of all unique keys. A caller gives the fields of one key.
 *
 * @example keyItem(built, post).text // 'input PostKeyInput {\n  id: ID\n  slug: String\n}'
 */
export function keyItem(built: Built, entity: EntityFact): CrudItem {
  const key = keyArguments(built, entity).map((line) => line.replace(/!$/, ''));
  const unique = uniqueKeys(built.shapes, entity).flat();
  const others = [...entity.fields.values()].flatMap((field) => {
    const link = built.links.byField.get(field);
    if (link)
      return link.kind === 'own' && unique.includes(link.key.column) ? [`${field.name}Id: ID`] : [];
    return unique.includes(field.snakeName) ? [`${field.name}: ${field.named.name}`] : [];
  });
  const name = typeName(built, entity, 'KeyInput');
  const lines = [...new Set([...key, ...others])];
  return { name, keyword: 'input', of: entity, text: block('input', name, lines) };
}
