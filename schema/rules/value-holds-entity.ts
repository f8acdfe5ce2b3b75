import { getNamedType } from 'graphql';
import { storedAs } from '../build/columns.ts';
import { coordinate } from '../build/facts.ts';
import type { Facts } from '../build/facts.ts';
import { finding, withDirective } from './finding.ts';
import type { Rule } from './finding.ts';

/** VALUE_HOLDS_ENTITY: an object kept in a JSON column cannot lead to a row. */
export const valueHoldsEntity: Rule = function* ({ facts }) {
  for (const entity of facts.entities.values()) {
    for (const field of entity.fields.values()) {
      if (field.type.kind !== 'object' || storedAs(field, facts) !== 'json') continue;
      const held = heldEntity(facts, field.named.name, new Set());
      if (!held) continue;
      yield finding(
        'VALUE_HOLDS_ENTITY',
        `${coordinate(field)} is stored as JSON, and ${held} leads to a row`,
        field.node,
        {
          why: `${field.named.name} has no id, so it is no table of its own`,
          fix: `add id: ID! to ${field.named.name}, or write the field yourself: ${withDirective(field, '@computed')}`,
        },
      );
    }
  }
};

function heldEntity(facts: Facts, name: string, seen: Set<string>): string | undefined {
  const type = facts.types.get(name);
  if (type?.role !== 'value' || seen.has(name)) return undefined;
  seen.add(name);
  for (const field of Object.values(type.type.getFields())) {
    const inner = getNamedType(field.type).name;
    if (facts.entities.has(inner)) return `${name}.${field.name}`;
    const deeper = heldEntity(facts, inner, seen);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
