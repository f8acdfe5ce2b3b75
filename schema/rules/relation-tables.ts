import { coordinate, type FieldFact } from '../build/facts.ts';
import type { Links } from '../build/links.ts';
import { finding, onField, quoted, type Rule } from './finding.ts';

/**
 * RELATION_TABLE_MISMATCH: two lists that face each other name different join tables, so that
 * neither is the inverse of the other.
 */
export const relationTables: Rule = function* ({ links }) {
  for (const [field, link] of links.byField) {
    const table = field.directives.relation?.table;
    if (link.kind !== 'join' || table === undefined || link.entity === field.owner) continue;
    if (links.views.of.has(field)) continue;
    const facing = listsBetween(links, link.entity, field.owner);
    const [other, more] = facing;
    const theirs = other?.directives.relation?.table;
    const own = listsBetween(links, field.owner, link.entity);
    if (!other || more || own.length > 1 || link.inverse || theirs === undefined) continue;
    if (field.owner > other.owner) continue;
    yield finding('RELATION_TABLE_MISMATCH', other.directives.relation?.node ?? other.node, {
      summary: `${coordinate(field)} is kept in ${table}, and ${coordinate(other)} in ${theirs}`,
      why: 'two names of join tables are two relations, and each of these has one end',
      changes: [onField(other, 'relation', { table: quoted(table) })],
      severity: 'warning',
    });
  }
};

/** The lists of a type that reference another one by a join table. */
function listsBetween({ byField, views }: Links, owner: string, target: string): FieldFact[] {
  return [...byField].flatMap(([field, link]) =>
    field.owner === owner && link.kind === 'join' && link.entity === target && !views.of.has(field)
      ? [field]
      : [],
  );
}
