import { coordinate } from '../build/facts.ts';
import type { FieldFact } from '../build/facts.ts';
import type { Links } from '../build/links.ts';
import { finding, onField, quoted } from './finding.ts';
import type { Rule } from './finding.ts';

/**
 * RELATION_SPLIT: one of two lists that reference each other names its join table, which makes it a
 * separate relation.
 */
export const relationSplit: Rule = function* ({ links }) {
  for (const [other, field] of splitLists(links)) {
    const [named, silent] = [tableOf(links, field), tableOf(links, other)];
    yield finding(
      'RELATION_SPLIT',
      `${coordinate(field)} and ${coordinate(other)} are kept in two join tables, ${named} and ${silent}`,
      other.node,
      {
        why: `@relation(table:) on ${coordinate(field)} makes it a relation of its own`,
        mends: [
          {
            title: 'one relation',
            changes: [onField(other, 'relation', { inverse: quoted(field.name) })],
          },
          {
            title: 'two relations',
            changes: [onField(other, 'relation', { table: quoted(silent) })],
          },
        ],
      },
      'warning',
    );
  }
};

/** Lists without `@relation`, each with the list of the other type that names its table. */
export function splitLists(links: Links): ReadonlyMap<FieldFact, FieldFact> {
  const split = new Map<FieldFact, FieldFact>();
  for (const [field, link] of links.byField) {
    if (link.kind !== 'join' || link.inverse || link.entity === field.owner) continue;
    if (field.directives.relation?.table === undefined) continue;
    const [other, more] = listsWithoutDirective(links, link.entity, field.owner);
    if (other && !more) split.set(other, field);
  }
  return split;
}

function tableOf({ byField }: Links, field: FieldFact): string {
  const link = byField.get(field);
  return link?.kind === 'join' ? link.table : '';
}

/** The lists of a type that reference another one by a join table without `@relation`. */
function listsWithoutDirective({ byField }: Links, owner: string, target: string): FieldFact[] {
  return [...byField].flatMap(([field, link]) =>
    field.owner === owner &&
    link.kind === 'join' &&
    link.entity === target &&
    !link.inverse &&
    !field.directives.relation
      ? [field]
      : [],
  );
}
