import { readCondition } from '../build/conditions.ts';
import { connectionOf } from '../build/connections.ts';
import { coordinate, type FieldFact } from '../build/facts.ts';
import type { Built } from '../build/built.ts';
import type { UnclearView } from '../build/list-views.ts';
import { nearest } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import { finding, listed, onField, quoted, withoutArgument, type Rule } from './finding.ts';

/**
 * LIST_CONDITION, LIST_RELATION: the operators and values of `@list(where:)`, and whose rows a
 * second list of a relation shows.
 */
export const lists: Rule = function* (built) {
  for (const entity of built.facts.entities.values())
    for (const field of entity.fields.values()) yield* checkCondition(built, field);
  for (const { field } of built.operations) {
    yield* checkCondition(built, field);
    if (field.directives.list?.relation !== undefined) yield ofRoot(field);
  }
  for (const view of built.links.views.unclear) yield unclear(view);
};

function* checkCondition({ facts, shapes }: Built, field: FieldFact): Generator<Finding> {
  const where = field.directives.list?.where;
  if (!where) return;
  const node = connectionOf(field.named.name, facts)?.node ?? field.named;
  const entity = facts.entities.get(node.name);
  if (!entity)
    return yield finding('LIST_CONDITION', where, {
      summary: `The rows of ${coordinate(field)} are of several types, which have no common condition`,
      fix: 'a list of one type',
      changes: withoutArgument(field, 'where', 'list'),
    });
  for (const { code, at, summary, why, fix } of readCondition(
    shapes,
    entity,
    where,
    'LIST_CONDITION',
  ).problems)
    yield finding(code, at, { summary, why, fix });
}

const ofRoot = (field: FieldFact): Finding =>
  finding('LIST_RELATION', field.directives.list?.node, {
    summary: `${coordinate(field)} is a list of ${field.owner}, which has no relations`,
    fix: 'remove relation',
    changes: withoutArgument(field, 'relation', 'list'),
  });

function unclear({ kind, field, candidates }: UnclearView): Finding {
  const named = field.directives.list?.relation ?? '';
  const names = candidates.map(({ name }) => name);
  const advised = nearest(named, names) ?? names[0];
  return finding('LIST_RELATION', field.directives.list?.node, {
    summary:
      kind === 'unknown'
        ? `${field.owner} has no other list ${named} of the same rows`
        : `It is not clear whose rows ${coordinate(field)} shows`,
    why:
      kind === 'unknown'
        ? 'relation names the field whose rows the list shows'
        : candidates.length > 1
          ? `${listed(candidates.map(coordinate))} hold rows of the same type`
          : 'several keys lead from one type to the other',
    ...(advised === undefined
      ? { fix: `a field of ${field.owner} that holds all of them` }
      : { changes: [onField(field, 'list', { relation: quoted(advised) })] }),
  });
}
