import { getNamedType } from 'graphql';
import { createMemory } from '../remembered.ts';
import type { Facts } from './facts.ts';

/** Remembered by the types of one reading, which never change. */
const heldEntities = createMemory<Facts['types'], Map<string, string | undefined>>();

/**
 * The field inside an object without `id`, at any depth, that references an entity: a JSON column
 * cannot hold it. Undefined if there is none.
 *
 * @example
 * heldEntity('Cart', facts) // 'CartLine.product'
 */
export function heldEntity(name: string, facts: Facts): string | undefined {
  const known = heldEntities(facts.types, [], () => new Map<string, string | undefined>());
  if (!known.has(name)) known.set(name, search(name, facts, new Set()));
  return known.get(name);
}

function search(name: string, facts: Facts, seen: Set<string>): string | undefined {
  const type = facts.types.get(name);
  if (type?.role !== 'value' || seen.has(name)) return undefined;
  seen.add(name);
  for (const field of Object.values(type.type.getFields())) {
    const inner = getNamedType(field.type).name;
    if (facts.types.get(inner)?.role === 'entity') return `${name}.${field.name}`;
    const deeper = search(inner, facts, seen);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
