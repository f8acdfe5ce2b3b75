import type { Tally } from '../model.ts';
import type { TallyUse } from '../directives/tallies.ts';
import type { ConditionProblem } from './condition-reading.ts';
import { readCondition } from './conditions.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import type { Shapes } from './shapes.ts';

export type TallyFact =
  | { readonly source: Tally }
  /** `relation` is not a relation of the type; `known` are its relations. */
  | { readonly unknown: string; readonly of?: EntityFact; readonly known: readonly string[] }
  | { readonly problems: readonly ConditionProblem[] };

/**
 * The directive of a field that counts rows, or says whether there are any; undefined when it has
 * none.
 */
export function tallyUse({
  directives,
}: FieldFact): { readonly use: TallyUse; readonly of: Tally['of'] } | undefined {
  if (directives.count) return { use: directives.count, of: 'count' };
  return directives.exists ? { use: directives.exists, of: 'exists' } : undefined;
}

/**
 * Reads `@count` or `@exists` of a field, and finds the parts that have no meaning.
 *
 * @example tallyOf(shapes, field) // { source: { kind: 'tally', of: 'count', relation: 'comments', … } }
 */
export function tallyOf(shapes: Shapes, field: FieldFact): TallyFact | undefined {
  const found = tallyUse(field);
  if (!found) return undefined;
  const { use, of } = found;
  const owner = shapes.facts.entities.get(field.owner);
  const relation = owner?.fields.get(use.relation);
  const link = relation && shapes.links.byField.get(relation);
  const target = link && shapes.facts.entities.get(link.entity);
  if (!owner || !target) {
    const known = [...(owner?.fields.values() ?? [])]
      .filter((each) => shapes.links.byField.has(each))
      .map(({ name }) => name);
    return { unknown: use.relation, ...(owner && { of: owner }), known };
  }
  const read = use.where && readCondition(shapes, target, use.where, 'FIELD_UNKNOWN');
  if (read && read.problems.length > 0) return { problems: read.problems };
  const { name: entity } = target;
  return {
    source: {
      kind: 'tally',
      of,
      entity,
      relation: use.relation,
      ...(read && { where: read.condition }),
    },
  };
}
