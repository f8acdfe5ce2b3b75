import type { Finding } from '../parse/places.ts';
import type { Built } from '../build/built.ts';
import { derivedTable, isOwnTable, isReservedTable, LONGEST_NAME } from '../names.ts';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import { finding, onField, onType, quoted, type Advice, type Rule } from './finding.ts';

/**
 * TABLE_CLASH, TABLE_RESERVED, NAME_INVALID: every table needs a unique name that is valid in both
 * databases.
 */
export const tableNames: Rule = function* (built) {
  const taken = new Map<string, string>();
  for (const entity of built.facts.entities.values()) yield* checkEntity(entity, taken);
  yield* checkJoinTables(built, taken);
};

function* checkEntity(entity: EntityFact, taken: Map<string, string>): Generator<Finding> {
  const { table, plural, name } = entity;
  const { table: written, entity: words } = entity.directives;
  const at = written?.node ?? words?.node ?? entity.node;
  const place = placeOf(entity);
  const other = taken.get(place);
  const named = (free: string) => [
    written
      ? onType(entity, 'table', { name: quoted(free) })
      : onType(entity, 'entity', { table: quoted(free) }),
  ];
  if (!/^[A-Za-z][A-Za-z0-9]*(?:_?[A-Za-z0-9]+)*_?$/.test(plural))
    yield finding('NAME_INVALID', at, {
      summary: `"${plural}" is no plural that can be a name`,
      fix: 'letters and digits, as in blogPosts',
    });
  else if (!(written?.name === undefined ? isName : isStoredName)(table))
    yield invalidName(table, at, { changes: named(plainName(table)) });
  else if (written?.name === undefined ? isReservedTable(table) : isOwnTable(table))
    yield finding('TABLE_RESERVED', at, {
      summary: `The table ${table} of ${name} has a name that the server keeps for itself`,
      changes: named(derivedTable(table)),
    });
  else if (other !== undefined)
    yield finding('TABLE_CLASH', at, {
      summary: `${other} and ${name} would share the table ${table}`,
      changes: named(freeName(table, taken)),
    });
  if (other === undefined) taken.set(place, name);
}

/** A table's name for comparisons. Where the table is in SQLite too, letter case does not count. */
const placeOf = ({ table, schema, directives }: EntityFact): string =>
  directives.table?.name === undefined
    ? table.toLowerCase()
    : [schema, table].filter((part) => part !== undefined).join('.');

function* checkJoinTables(
  { links, project }: Built,
  types: Map<string, string>,
): Generator<Finding> {
  const owners = new Map<string, string>();
  for (const [field, link] of links.byField) {
    if (link.kind !== 'join' || link.managed || links.views.of.has(field)) continue;
    const key = link.table.toLowerCase();
    const ends = endsOf(field, link.inverse);
    const other = owners.get(key) ?? ends;
    const type = types.get(key);
    const end = tableEnd(field, link.inverse);
    const at = end.directives.relation?.node ?? end.node;
    const named = (free: string) => [onField(end, 'relation', { table: quoted(free) })];
    const taken = new Set([...types.keys(), ...owners.keys()]);
    const isNamed = end.directives.relation?.table !== undefined;
    if (!(isNamed ? isStoredName : isName)(link.table))
      yield invalidName(link.table, at, { changes: named(plainName(link.table)) });
    else if (project.unmanaged ? isOwnTable(link.table) : isReservedTable(link.table))
      yield finding('TABLE_RESERVED', at, {
        summary: `The join table ${link.table} has a name that the server keeps for itself`,
        changes: named(derivedTable(link.table)),
      });
    else if (!project.unmanaged && (type !== undefined || other !== ends))
      yield finding('TABLE_CLASH', at, {
        summary: `The join table ${link.table} of ${end.owner}.${end.name} has the name of ${type === undefined ? 'another relation' : `the type ${type}`}`,
        changes: named(freeName(`${link.table}_links`, taken)),
      });
    owners.set(key, other);
  }
}

const endsOf = (...ends: readonly (FieldFact | undefined)[]): string =>
  ends
    .flatMap((end) => (end ? [`${end.owner}.${end.name}`] : []))
    .sort()
    .join(' ');

/** The end of a relation whose `@relation` names the table: either end may. */
function tableEnd(field: FieldFact, inverse: FieldFact | undefined): FieldFact {
  const written = [field, inverse].find((end) => end?.directives.relation?.table !== undefined);
  return written ?? field;
}

/** The name with the lowest free number appended. */
function freeName(name: string, taken: { has(name: string): boolean }): string {
  const free = (text: string) => !taken.has(text.toLowerCase());
  if (free(name)) return derivedTable(name);
  let number = 2;
  while (!free(`${name}_${number}`)) number++;
  return derivedTable(`${name}_${number}`);
}

/** The name reduced to letters and digits that databases accept. */
function plainName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return derivedTable(/^[A-Za-z]/.test(plain) ? plain : `t_${plain}`);
}

/** Quoting would allow more names; only names that never need quotes are accepted. */
export function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name.length <= LONGEST_NAME;
}

/** Whether a text can be a name that another program chose. It is always quoted. */
const isStoredName = (name: string): boolean =>
  name !== '' && new TextEncoder().encode(name).length <= LONGEST_NAME && !name.includes('\0');

export function invalidName(
  name: string,
  at: Parameters<typeof finding>[1],
  advice: Pick<Advice, 'fix' | 'changes'> = { fix: 'choose a shorter or plainer name' },
): Finding {
  const why =
    name.length > LONGEST_NAME
      ? `PostgreSQL cuts names after ${LONGEST_NAME} characters`
      : 'letters, digits and _ only';
  return finding('NAME_INVALID', at, {
    summary: `"${name}" is no name for a table or a column`,
    why,
    ...advice,
  });
}
