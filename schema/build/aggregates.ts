import type { Aggregate, AggregateCondition, FilterOperator } from '../model.ts';
import { CALLER } from '../directives/aggregates.ts';
import type { AggregateUse } from '../directives/aggregates.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { OPERATORS } from './filter-words.ts';
import { namedColumn } from './named-columns.ts';
import type { Shapes } from './shapes.ts';

/** A name in `@count` or `@exists` that means nothing. */
export interface UnknownName {
  readonly name: string;
  /** The type that has no such field; absent for an operator. */
  readonly of?: EntityFact;
  readonly known: readonly string[];
}

export type AggregateFact =
  | { readonly source: Aggregate }
  | { readonly unknown: readonly UnknownName[] };

/** The directive of a field that counts rows or says whether there are any. */
export function aggregateUse({
  directives,
}: FieldFact): { readonly use: AggregateUse; readonly of: Aggregate['of'] } | undefined {
  if (directives.count) return { use: directives.count, of: 'count' };
  return directives.exists ? { use: directives.exists, of: 'exists' } : undefined;
}

/**
 * What `@count` or `@exists` on a field means, or the names in it that mean nothing.
 *
 * @example aggregateOf(shapes, field) // { source: { kind: 'aggregate', of: 'count', relation: 'comments', … } }
 */
export function aggregateOf(shapes: Shapes, field: FieldFact): AggregateFact | undefined {
  const found = aggregateUse(field);
  if (!found) return undefined;
  const { use, of } = found;
  const owner = shapes.facts.entities.get(field.owner);
  const relation = owner?.fields.get(use.relation);
  const link = relation && shapes.links.byField.get(relation);
  const target = link && shapes.facts.entities.get(link.entity);
  if (!owner || !target) {
    const known = [...(owner?.fields.values() ?? [])].filter((each) =>
      shapes.links.byField.has(each),
    );
    return {
      unknown: [
        { name: use.relation, ...(owner && { of: owner }), known: known.map(({ name }) => name) },
      ],
    };
  }
  const { conditions, unknown } = conditionsOf(shapes, target, use.where);
  if (unknown.length > 0) return { unknown };
  const { name: entity } = target;
  return {
    source: { kind: 'aggregate', of, entity, relation: use.relation, where: conditions },
  };
}

function conditionsOf(
  shapes: Shapes,
  target: EntityFact,
  where: AggregateUse['where'],
): { conditions: AggregateCondition[]; unknown: UnknownName[] } {
  const conditions: AggregateCondition[] = [];
  const unknown: UnknownName[] = [];
  for (const [name, given] of Object.entries(where)) {
    const column = namedColumn(shapes, target, name);
    if (!column || column.json) {
      unknown.push({ name, of: target, known: [...target.fields.keys()] });
      continue;
    }
    for (const [operator, value] of Object.entries(wordsOf(given)))
      if (!OPERATORS.includes(operator as FilterOperator))
        unknown.push({ name: operator, known: OPERATORS });
      else
        conditions.push({
          column: column.column,
          operator: operator as FilterOperator,
          ...(value === CALLER ? { caller: true } : { value }),
        });
  }
  return { conditions, unknown };
}

const wordsOf = (given: unknown): Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given) && given !== CALLER
    ? (given as Record<string, unknown>)
    : { eq: given };
