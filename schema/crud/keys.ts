import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';

/**
 * The arguments that say which row: `id`, or the fields of the key.
 *
 * @example keyInput(built, post) // ['id: ID!']
 */
export function keyInput(built: Built, entity: EntityFact): string[] {
  const id = entity.fields.get('id');
  if (id) return [`id: ${id.named.name}!`];
  return (entity.key ?? []).flatMap((name) => {
    const field = entity.fields.get(name);
    if (!field) return [];
    return built.links.byField.has(field) ? [`${name}Id: ID!`] : [`${name}: ${field.named.name}!`];
  });
}
