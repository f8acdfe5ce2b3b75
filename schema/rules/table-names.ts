import type { Finding } from '../parse/places.ts';
import type { EntityFact } from '../build/facts.ts';
import type { Built } from '../build/project.ts';
import { LONGEST_NAME } from '../names.ts';
import { finding, withDirective } from './finding.ts';
import type { Rule } from './finding.ts';

/** Tables of the runtime start with these, and so do those of the databases themselves. */
const RESERVED = /^(?:auth|hosting|twofold|sqlite|pg)_/i;

/** TABLE_CLASH, TABLE_RESERVED, NAME_INVALID: every table has a name of its own that both databases take. */
export const tableNames: Rule = function* (built) {
  const taken = new Map<string, string>();
  for (const entity of built.facts.entities.values()) yield* checkEntity(entity, taken);
  yield* checkJoinTables(built, taken);
};

function* checkEntity(entity: EntityFact, taken: Map<string, string>): Generator<Finding> {
  const { table, plural, name } = entity;
  const at = entity.directives.entity?.node ?? entity.node;
  const other = taken.get(table.toLowerCase());
  if (!/^[A-Za-z][A-Za-z0-9]*(?:_?[A-Za-z0-9]+)*_?$/.test(plural))
    yield finding('NAME_INVALID', `"${plural}" is no plural that can be a name`, at, {
      fix: 'letters and digits, as in blogPosts',
    });
  else if (!isName(table)) yield invalidName(table, at, `type ${name} @entity(table: "…")`);
  else if (RESERVED.test(table))
    yield finding(
      'TABLE_RESERVED',
      `The table ${table} of ${name} has a name that the server keeps for itself`,
      at,
      { fix: `type ${name} @entity(table: "app_${table}")`.replace('app_sqlite_', 'app_') },
    );
  else if (other !== undefined)
    yield finding('TABLE_CLASH', `${other} and ${name} would share the table ${table}`, at, {
      fix: `type ${name} @entity(table: "${table}_2")`,
    });
  taken.set(table.toLowerCase(), name);
}

function* checkJoinTables(
  { links }: Built,
  taken: ReadonlyMap<string, string>,
): Generator<Finding> {
  const owners = new Map<string, string>();
  for (const [field, link] of links.byField) {
    if (link.kind !== 'join') continue;
    const at = field.directives.relation?.node ?? field.node;
    const ends = [field, ...(link.inverse ? [link.inverse] : [])]
      .map((end) => `${end.owner}.${end.name}`)
      .sort()
      .join(' ');
    const entity = taken.get(link.table.toLowerCase());
    const other = owners.get(link.table.toLowerCase());
    if (!isName(link.table))
      yield invalidName(link.table, at, withDirective(field, '@relation(table: "…")'));
    else if (RESERVED.test(link.table))
      yield finding(
        'TABLE_RESERVED',
        `The join table ${link.table} has a name that the server keeps for itself`,
        at,
        { fix: withDirective(field, `@relation(table: "app_${link.table}")`) },
      );
    else if (entity !== undefined || (other !== undefined && other !== ends)) {
      const what = entity === undefined ? `another relation` : `the type ${entity}`;
      yield finding(
        'TABLE_CLASH',
        `The join table ${link.table} of ${field.owner}.${field.name} has the name of ${what}`,
        at,
        { fix: withDirective(field, `@relation(table: "${link.table}_links")`) },
      );
    }
    owners.set(link.table.toLowerCase(), ends);
  }
}

/** Quoting would let more through; a name that needs no care anywhere is worth more. */
export function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name.length <= LONGEST_NAME;
}

export function invalidName(
  name: string,
  at: Parameters<typeof finding>[2],
  fix = 'choose a shorter or plainer name',
): Finding {
  const why =
    name.length > LONGEST_NAME
      ? `PostgreSQL cuts names after ${LONGEST_NAME} characters`
      : 'letters, digits and _ only';
  return finding('NAME_INVALID', `"${name}" is no name for a table or a column`, at, { why, fix });
}
