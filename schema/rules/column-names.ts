import type { EntityFact, FieldFact } from '../build/facts.ts';
import { storedAs } from '../build/columns.ts';
import type { Built } from '../build/project.ts';
import type { Finding } from '../parse/places.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';
import { invalidName, isName } from './table-names.ts';

/** COLUMN_CLASH, NAME_INVALID: no two fields are kept in one column, unless they are a relation and its own key. */
export const columnNames: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) yield* checkEntity(built, entity);
};

function* checkEntity({ facts, links }: Built, entity: EntityFact): Generator<Finding> {
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
      if (!isName(column)) yield invalidName(column, field.directives.relation?.node ?? field.node);
      else if (other && !isKeyOf(links, field, other, column)) yield clash(field, other, column);
      taken.set(column.toLowerCase(), field);
    }
  }
}

/** `author: User!` and `authorId: ID!` show the same column on purpose. */
function isKeyOf(links: Built['links'], one: FieldFact, other: FieldFact, column: string): boolean {
  const relation = [one, other].find((field) => links.byField.get(field)?.kind === 'own');
  const plain = [one, other].find((field) => field.named.name === 'ID' && !field.type.list);
  const link = relation && links.byField.get(relation);
  return (
    relation !== undefined &&
    plain !== undefined &&
    plain !== relation &&
    link?.kind === 'own' &&
    link.key.column === column
  );
}

function clash(field: FieldFact, other: FieldFact, column: string): Finding {
  return finding(
    'COLUMN_CLASH',
    `${field.owner}.${other.name} and ${field.owner}.${field.name} would share the column ${column}`,
    field.node,
    {
      why: 'names in the database are in snake_case, and capitals make no difference',
      fix:
        field.type.kind === 'scalar' && other.type.kind !== 'scalar'
          ? `${field.name}: ID!   to show the key of ${other.name}, or another name`
          : 'give one of them another name',
    },
  );
}
