import { coordinate } from '../build/facts.ts';
import { heldEntity } from '../build/values.ts';
import { finding, onField, type Rule } from './finding.ts';

/**
 * VALUE_HOLDS_ENTITY: an object without `id` that references an entity cannot be stored, so the
 * user has to write the field.
 */
export const valueHoldsEntity: Rule = function* ({ facts }) {
  for (const entity of facts.entities.values()) {
    for (const field of entity.fields.values()) {
      if (field.type.kind !== 'object' || field.args.length > 0 || field.directives.computed)
        continue;
      const held = heldEntity(field.named.name, facts);
      if (held === undefined) continue;
      yield {
        ...finding('VALUE_HOLDS_ENTITY', field.node, {
          summary: `${coordinate(field)} is yours to write: ${held} leads to a row`,
          why: `${field.named.name} has no id, so it is no table of its own, and JSON cannot lead to a row`,
          changes: [onField(field, 'computed')],
          fix: (line) => `${line}   or add id: ID! to ${field.named.name} to make it a table`,
          severity: 'hint',
        }),
        coordinate: coordinate(field),
      };
    }
  }
};
