import { coordinate } from '../build/facts.ts';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import type { Doubt } from '../build/pair-relations.ts';
import { nearest } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import { snakeCase } from '../names.ts';
import { finding, listed, withDirective } from './finding.ts';
import type { Rule } from './finding.ts';

/** RELATION_AMBIGUOUS, RELATION_OWNER_UNCLEAR, RELATION_INVERSE_UNKNOWN, RELATION_INVERSE_MISMATCH: what can be read in two ways is never guessed. */
export const relationDoubts: Rule = function* ({ links, facts }) {
  for (const doubt of links.doubts) yield describe(doubt, facts.entities);
};

function describe(doubt: Doubt, entities: ReadonlyMap<string, EntityFact>): Finding {
  const [first] = doubt.candidates;
  switch (doubt.kind) {
    case 'inverse-unknown':
      return inverseUnknown(doubt.field, entities);
    case 'inverse-mismatch':
      return inverseMismatch(doubt.field, first);
    case 'owner':
      return ownerUnclear(doubt.field, first);
    case 'one-to-one':
      return oneToOne(doubt.field, doubt.candidates);
    case 'contested':
      return contested(doubt);
    case 'ambiguous':
      return ambiguous(doubt.field, doubt.candidates);
  }
}

function ambiguous(field: FieldFact, candidates: readonly FieldFact[]): Finding {
  const owner = candidates[0]?.owner ?? '';
  const same = candidates.every(
    (candidate) =>
      candidate.owner === owner && candidate.named.name === field.owner && !candidate.type.list,
  );
  return finding(
    'RELATION_AMBIGUOUS',
    `${listed(candidates.map(coordinate))} can ${candidates.length === 2 ? 'both' : 'all'} be the inverse of ${coordinate(field)}`,
    field.node,
    {
      why: same
        ? `${count(candidates.length)} fields of ${owner} have the type ${field.owner}`
        : `${count(candidates.length)} fields lead from ${owner} to ${field.owner}`,
      fix: withDirective(field, `@relation(inverse: "${candidates[0]?.name}")`),
    },
  );
}

function contested({ field, candidates }: Doubt): Finding {
  const [single, ...lists] = candidates;
  return finding(
    'RELATION_AMBIGUOUS',
    `${listed(lists.map(coordinate))} can ${lists.length === 2 ? 'both' : 'all'} be the inverse of ${single ? coordinate(single) : ''}`,
    field.node,
    {
      why: `${count(lists.length)} lists of ${field.owner} hold ${single?.owner}, and a key has one other end`,
      fix: withDirective(field, `@relation(inverse: "${single?.name}")`),
    },
  );
}

function oneToOne(field: FieldFact, candidates: readonly FieldFact[]): Finding {
  const [other] = candidates;
  const one = withDirective(field, `@relation(inverse: "${other?.name}")`);
  const own = field.type.list
    ? `table: "${snakeCase(field.owner)}_${field.snakeName}"`
    : `column: "${field.snakeName}_id"`;
  const two = withDirective(field, `@relation(${own})`);
  return finding(
    'RELATION_AMBIGUOUS',
    `${coordinate(field)} and ${listed(candidates.map(coordinate), 'or')} can be two ends of one relation, or two relations`,
    field.node,
    {
      why: 'they point at each other, and the names do not tell',
      fix: `one relation:  ${one}\ntwo relations: ${two}`,
    },
  );
}

function ownerUnclear(field: FieldFact, other: FieldFact | undefined): Finding {
  return finding(
    'RELATION_OWNER_UNCLEAR',
    `Either ${coordinate(field)} or ${other ? coordinate(other) : ''} can hold the key`,
    field.node,
    {
      why: 'they are one relation, and both ends are written alike',
      fix: `${withDirective(field, `@relation(column: "${field.snakeName}_id")`)}   or let only one of the two be required`,
    },
  );
}

function inverseUnknown(field: FieldFact, entities: ReadonlyMap<string, EntityFact>): Finding {
  const said = field.directives.relation;
  const target =
    entities.get(field.named.name) ??
    [...entities.values()].find(({ name }) => field.type.text.includes(name));
  const back = [...(target?.fields.values() ?? [])]
    .filter(({ named }) => named.name === field.owner)
    .map(({ name }) => name);
  const near = nearest(said?.inverse ?? '', target?.fields.keys() ?? []) ?? back[0];
  return finding(
    'RELATION_INVERSE_UNKNOWN',
    `${target?.name ?? field.named.name} has no field ${said?.inverse}`,
    said?.node ?? field.node,
    { fix: near === undefined ? 'name the field that leads back' : `Did you mean "${near}"?` },
  );
}

function inverseMismatch(field: FieldFact, other: FieldFact | undefined): Finding {
  return finding(
    'RELATION_INVERSE_MISMATCH',
    `${other ? coordinate(other) : 'The field'} is not the other end of ${coordinate(field)}`,
    field.directives.relation?.node ?? field.node,
    {
      why: `it does not lead back to ${field.owner}, or is the end of another relation`,
      fix: 'name the field that leads back, on one side or alike on both',
    },
  );
}

function count(number: number): string {
  return ['no', 'one', 'two', 'three', 'four', 'five'][number] ?? String(number);
}
