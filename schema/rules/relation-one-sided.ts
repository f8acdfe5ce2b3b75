import { coordinate, type EntityFact } from '../build/facts.ts';
import { snakeCase } from '../names.ts';
import { finding, onField, quoted, type Rule } from './finding.ts';

const keyColumn = ({ singular }: EntityFact): string => `${snakeCase(singular)}_id`;

/**
 * RELATION_ONE_SIDED: a list without an inverse field is stored in a join table, and may have been
 * meant as a foreign key.
 */
export const relationOneSided: Rule = function* ({ links, facts }) {
  // An end that already has a finding must not get a second one about the same relation.
  const doubtful = new Set(
    links.doubts.flatMap(({ field, candidates }) =>
      [field, ...candidates].map(({ owner }) => owner),
    ),
  );
  for (const field of links.oneSided) {
    const link = links.byField.get(field);
    const owner = facts.entities.get(field.owner);
    if (link?.kind !== 'join' || !owner || doubtful.has(link.entity)) continue;
    yield finding('RELATION_ONE_SIDED', field.node, {
      summary: `${coordinate(field)} is kept in the join table ${link.table}`,
      why: `no field of ${link.entity} leads back, so one ${link.entity} may belong to many`,
      mends: [
        {
          title: 'it may belong to many',
          changes: [onField(field, 'relation', { table: quoted(link.table) })],
        },
        {
          title: 'it belongs to one',
          changes: [onField(field, 'relation', { column: quoted(keyColumn(owner)) })],
        },
      ],
      severity: 'hint',
    });
  }
};
