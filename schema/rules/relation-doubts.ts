import { coordinate, type EntityFact, type FieldFact } from '../build/facts.ts';
import type { Links } from '../build/links.ts';
import type { Doubt } from '../build/pair-relations.ts';
import type { Built } from '../build/built.ts';
import { nearest } from '../did-you-mean.ts';
import type { Change, ProposedFix } from '../parse/changes.ts';
import type { Finding } from '../parse/places.ts';
import { derivedTable, snakeCase } from '../names.ts';
import { finding, listed, onField, quoted, type Rule } from './finding.ts';

/**
 * RELATION_AMBIGUOUS, RELATION_OWNER_UNCLEAR, RELATION_INVERSE_UNKNOWN, RELATION_INVERSE_MISMATCH:
 * an ambiguous relation is reported and never guessed.
 */
export const relationDoubts: Rule = function* (built) {
  for (const doubt of built.links.doubts) yield describe(doubt, built);
};

function describe(doubt: Doubt, { links, facts }: Built): Finding {
  const [first] = doubt.candidates;
  switch (doubt.kind) {
    case 'inverse-unknown':
      return inverseUnknown(doubt.field, facts.entities);
    case 'inverse-mismatch':
      return inverseMismatch(doubt.field, first, facts.entities);
    case 'owner':
      return ownerUnclear(doubt.field, first);
    case 'one-to-one':
      return oneToOne(doubt, links);
    case 'contested':
      return contested(doubt);
    case 'ambiguous':
      return ambiguous(doubt, links);
  }
}

function ambiguous({ field, candidates, advised }: Doubt, links: Links): Finding {
  const owner = candidates[0]?.owner ?? '';
  const same = candidates.every(
    (candidate) =>
      candidate.owner === owner && candidate.named.name === field.owner && !candidate.type.list,
  );
  return finding('RELATION_AMBIGUOUS', field.node, {
    summary: `${listed(candidates.map(coordinate))} can ${candidates.length === 2 ? 'both' : 'all'} be the inverse of ${coordinate(field)}`,
    why: same
      ? `${count(candidates.length)} fields of ${owner} have the type ${field.owner}`
      : `${count(candidates.length)} fields lead from ${owner} to ${field.owner}`,
    changes: [advised ? inverse(field, advised) : ownRelation(field, links)],
  });
}

/** Names the other end in `@relation(inverse:)`. */
function inverse(field: FieldFact, other: FieldFact): Change {
  return onField(field, 'relation', { inverse: quoted(other.name) });
}

/** Makes a field a relation of its own. */
function ownRelation(field: FieldFact, links: Links): Change {
  const link = links.byField.get(field);
  const isMany = link ? link.kind === 'join' : field.type.list;
  const table = link?.kind === 'join' ? link.table : derivedTable(joined(field));
  return onField(
    field,
    'relation',
    isMany ? { table: quoted(table) } : { column: quoted(`${field.snakeName}_id`) },
  );
}

const joined = ({ owner, snakeName }: FieldFact): string => `${snakeCase(owner)}_${snakeName}`;

function contested({ field, candidates: [single, ...lists] }: Doubt): Finding {
  return finding('RELATION_AMBIGUOUS', field.node, {
    summary: `${listed(lists.map(coordinate))} can ${lists.length === 2 ? 'both' : 'all'} be the inverse of ${single ? coordinate(single) : ''}`,
    why: `${count(lists.length)} lists of ${field.owner} hold ${single?.owner}, and a key has one other end`,
    changes: single && [inverse(field, single)],
  });
}

/**
 * If the names suggest neither, two relations are advised: then neither field shows rows that were
 * meant for the other.
 */
function oneToOne({ field, candidates, advised }: Doubt, links: Links): Finding {
  const [other = field] = candidates;
  const one: ProposedFix = { title: 'one relation', changes: [inverse(field, advised ?? other)] };
  const two: ProposedFix = { title: 'two relations', changes: [ownRelation(field, links)] };
  return finding('RELATION_AMBIGUOUS', field.node, {
    summary: `${coordinate(field)} and ${listed(candidates.map(coordinate), 'or')} can be two ends of one relation, or two relations`,
    why: 'they point at each other, and the names do not tell',
    mends: advised ? [one, two] : [two, one],
  });
}

function ownerUnclear(field: FieldFact, other: FieldFact | undefined): Finding {
  return finding('RELATION_OWNER_UNCLEAR', field.node, {
    summary: `Either ${coordinate(field)} or ${other ? coordinate(other) : ''} can hold the key`,
    why: 'they are one relation, and both ends are written alike',
    changes: [onField(field, 'relation', { column: quoted(`${field.snakeName}_id`) })],
    fix: (line) => `${line}   or let only one of the two be required`,
  });
}

function inverseUnknown(field: FieldFact, entities: ReadonlyMap<string, EntityFact>): Finding {
  const written = field.directives.relation;
  const target = targetOf(field, entities);
  const back = leadingBack(field, target);
  const near = nearest(written?.inverse ?? '', back) ?? back[0];
  return finding('RELATION_INVERSE_UNKNOWN', written?.node ?? field.node, {
    summary: `${target?.name ?? field.named.name} has no field ${written?.inverse}`,
    ...(near === undefined
      ? { fix: 'name the field that leads back' }
      : {
          fix: `Did you mean "${near}"?`,
          changes: [onField(field, 'relation', { inverse: quoted(near) })],
        }),
  });
}

function inverseMismatch(
  field: FieldFact,
  other: FieldFact | undefined,
  entities: ReadonlyMap<string, EntityFact>,
): Finding {
  const target = targetOf(field, entities);
  const back = leadingBack(field, target).filter(
    (name) => name !== other?.name && !target?.fields.get(name)?.directives.relation,
  );
  return finding('RELATION_INVERSE_MISMATCH', field.directives.relation?.node ?? field.node, {
    summary: `${other ? coordinate(other) : 'The field'} is not the other end of ${coordinate(field)}`,
    why: `it does not lead back to ${field.owner}, or is the end of another relation`,
    fix: 'name the field that leads back, on one side or alike on both',
    changes: back[0] ? [onField(field, 'relation', { inverse: quoted(back[0]) })] : undefined,
  });
}

function targetOf(
  field: FieldFact,
  entities: ReadonlyMap<string, EntityFact>,
): EntityFact | undefined {
  return (
    entities.get(field.named.name) ??
    [...entities.values()].find(({ name }) => field.type.text.includes(name))
  );
}

function leadingBack(field: FieldFact, target: EntityFact | undefined): string[] {
  return [...(target?.fields.values() ?? [])]
    .filter(({ named }) => named.name === field.owner)
    .map(({ name }) => name);
}

function count(number: number): string {
  return ['no', 'one', 'two', 'three', 'four', 'five'][number] ?? String(number);
}
