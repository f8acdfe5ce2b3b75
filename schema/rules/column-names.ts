import type { EntityFact, FieldFact } from '../build/facts.ts';
import { storedAs } from '../build/columns.ts';
import type { Built } from '../build/built.ts';
import type { Finding } from '../parse/places.ts';
import { showsKey } from '../build/keys.ts';
import { derivedTable } from '../names.ts';
import { finding, onField, quoted, retyped, type Rule } from './finding.ts';
import { invalidName, isName } from './table-names.ts';

/**
 * COLUMN_CLASH, NAME_INVALID: two fields must not share a column, unless they are a relation and
 * its key.
 */
export const columnNames: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) yield* checkEntity(built, entity);
};

function invalidColumn(field: FieldFact, column: string, isKey: boolean): Finding {
  const change = isKey
    ? onField(field, 'relation', { column: quoted(derivedTable(column.replace(/\W+/g, '_'))) })
    : onField(field, 'computed');
  return invalidName(column, field.directives.relation?.node ?? field.node, { changes: [change] });
}

function* checkEntity(built: Built, entity: EntityFact): Generator<Finding> {
  const { facts, links } = built;
  const taken = new Map<string, FieldFact>();
  for (const field of entity.fields.values()) {
    const link = links.byField.get(field);
    const stored = storedAs(field, facts);
    const columns =
      link?.kind === 'own'
        ? [link.key.column, ...(link.key.typeColumn ? [link.key.typeColumn] : [])]
        : stored
          ? [field.snakeName]
          : [];
    for (const column of columns) {
      const other = taken.get(column.toLowerCase());
      if (!isStoredAsNamed(field) && !isName(column))
        yield invalidColumn(field, column, link?.kind === 'own');
      else if (other && !isKeyOf(built, field, other, column))
        yield clash(built, field, other, column);
      taken.set(column.toLowerCase(), field);
    }
  }
}

/** Whether the schema gives the name in the database, which is then always quoted. */
const isStoredAsNamed = ({ directives }: FieldFact): boolean =>
  directives.column?.name !== undefined;

/** `author: User!` and `authorId: ID!` show the same column on purpose. */
function isKeyOf(
  { facts, links }: Built,
  one: FieldFact,
  other: FieldFact,
  column: string,
): boolean {
  const relation = [one, other].find((field) => links.byField.get(field)?.kind === 'own');
  const plain = one === relation ? other : one;
  const link = relation && links.byField.get(relation);
  return link?.kind === 'own' && link.key.column === column && showsKey(plain, facts);
}

function clash({ links }: Built, field: FieldFact, other: FieldFact, column: string): Finding {
  const relation = [field, other].find((each) => links.byField.get(each)?.kind === 'own');
  const plain = relation === field ? other : field;
  const isScalar = relation && plain.type.kind === 'scalar' && !plain.type.list;
  const key = `ID${plain.type.required ? '!' : ''}`;
  return finding('COLUMN_CLASH', field.node, {
    summary: `${field.owner}.${other.name} and ${field.owner}.${field.name} would share the column ${column}`,
    why: 'names in the database are in snake_case, and capitals make no difference',
    changes: [isScalar ? retyped(plain, key) : onField(field, 'computed')],
    fix: (line) =>
      isScalar
        ? `${line}   to show the key of ${relation.name}, or give it another name`
        : `${line}   to write it yourself, or give it another name`,
  });
}
