import type { Aggregated, Grouping, ListOptions } from '../model.ts';
import { assertMembers } from './aggregate-members.ts';
import { aggregateName } from './aggregate-types.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';
import { assertGroupOrder, assertHaving, groupKeys } from './groups.ts';
import { ORDER } from './list-arguments.ts';
import { listOptions } from './list-options.ts';
import { paged } from '../implied-lists.ts';
import { Refusal, type Shapes } from './shapes.ts';

/**
 * The entity whose rows a field counts and adds up, by the name of its type.
 *
 * @example aggregatedEntity(field, facts)?.name // 'Post', for postsAggregate: PostAggregate!
 */
export function aggregatedEntity({ named }: FieldFact, facts: Facts): EntityFact | undefined {
  if (facts.types.get(named.name)?.role !== 'aggregate') return undefined;
  const found = aggregateName(named.name);
  return found && facts.entities.get(found.entity);
}

/**
 * The source of a field with such a type.
 *
 * @example
 * aggregatedOf(shapes, field, post) // { kind: 'aggregated', entity: 'Post', list: { where: … } }
 */
export function aggregatedOf(shapes: Shapes, field: FieldFact, entity: EntityFact): Aggregated {
  const grouped = aggregateName(field.named.name)?.form === 'Group';
  if (grouped !== field.type.list)
    throw new Refusal(
      grouped
        ? `groups are a list: write [${field.named.name}!]!`
        : `an aggregate is one object: write ${field.named.name}!`,
    );
  assertMembers(shapes, field.named.name, entity);
  const groups = grouped ? grouping(shapes, field, entity) : undefined;
  const list = listOptions(shapes, withoutGrouping(field, groups), entity);
  const page = wrongPage(list, grouped);
  if (page !== undefined)
    throw new Refusal(
      `the argument ${page} pages rows, and there are ${grouped ? 'groups' : 'none'}`,
    );
  const rows = { kind: 'aggregated', entity: entity.name } as const;
  return groups ? { ...rows, list: paged(list), groups } : { ...rows, list };
}

function withoutGrouping(field: FieldFact, groups: Grouping | undefined): FieldFact {
  if (!groups) return field;
  const own = [groups.by.arg, groups.having, groups.orderBy];
  return { ...field, args: field.args.filter(({ name }) => !own.includes(name)) };
}

function wrongPage({ paging, orderBy }: ListOptions, grouped: boolean): string | undefined {
  const { limit, offset, first, after, last, before } = paging;
  return [...(grouped ? [] : [limit, offset, orderBy?.arg]), first, after, last, before].find(
    (name) => name !== undefined,
  );
}

function grouping(shapes: Shapes, field: FieldFact, entity: EntityFact): Grouping {
  const by = field.args.find(({ name }) => name === 'by' || name === 'groupBy');
  if (!by) throw new Refusal('no argument by says what the groups are equal in');
  const values = groupKeys(shapes, by.type.name, entity);
  const having = field.args.find(({ name }) => name === 'having');
  const orderBy = field.args.find(({ name }) => ORDER.has(name));
  if (having) assertHaving(shapes, having.type.name, entity);
  if (orderBy) assertGroupOrder(shapes, orderBy.type.name, entity);
  return {
    by: { arg: by.name, values },
    ...(having && { having: having.name }),
    ...(orderBy && { orderBy: orderBy.name }),
  };
}

/** The ends of names that do not help to find the list whose rows are counted. */
const SUFFIX = /(?:Aggregates?|Groups?|GroupBy|GroupedBy|Stats|Statistics|Totals|Summary)$/;

/** @example stemOf('postsAggregate') // 'posts' */
export const stemOf = (name: string): string => name.replace(SUFFIX, '');
