import type { CatalogForeignKey, CatalogTable } from '@twofold/database';
import { keyOf } from './column-type.ts';
import { directive } from '../imported.ts';
import { schemaOf } from './fields.ts';
import { lowerFirst, pluralName, relationName, typeName, upperFirst } from './names.ts';
import { type Importing, objectOf, type TypeInProgress } from './types.ts';

/** A foreign key that became a field, and the types at its two ends. */
interface Relation {
  readonly from: TypeInProgress;
  readonly to: TypeInProgress;
  readonly field: string;
  readonly key: CatalogForeignKey;
}

/** Adds the other end of each relation: a list, or one row where the key is unique. */
export function addInverses(importing: Importing): void {
  const relations = [...importing.types.values()].flatMap((type) => relationsOf(type, importing));
  for (const relation of relations) {
    const { from, to, field, key } = relation;
    const wished = importing.wishes.inverseName?.(key);
    if (wished === null) continue;
    const several = relations.filter((each) => each.from === from && each.to === to).length > 1;
    const mutual = relations.some((each) => each.from === to && each.to === from);
    const single = isSingle(from.table, key);
    const base = single ? lowerFirst(from.name) : pluralName(from.name);
    const usual = several || from === to ? `${base}By${upperFirst(field)}` : base;
    const name = to.names(wished ?? usual);
    to.inverses.set(key, name);
    // Two rows that refer to each other are one relation only if the names say so.
    const isOpen =
      several ||
      mutual ||
      (single && (field !== lowerFirst(to.name) || name !== lowerFirst(from.name)));
    to.fields.push({
      name,
      type: single ? from.name : `[${from.name}!]!`,
      directives: isOpen ? [directive('relation', { inverse: field })] : [],
      unique: false,
    });
  }
}

const relationsOf = (from: TypeInProgress, { types }: Importing): Relation[] =>
  [...from.relations].flatMap(([key, field]) => {
    const to = types.get(keyOf(key.table));
    return to ? [{ from, to, field, key }] : [];
  });

/** Whether at most one row has a value of the key. */
const isSingle = ({ uniques, primaryKey }: CatalogTable, { columns }: CatalogForeignKey): boolean =>
  [...uniques, ...(primaryKey ? [primaryKey] : [])].some(
    (unique) => [...unique.columns].sort().join() === [...columns].sort().join(),
  );

/** Adds the two lists of each join table. */
export function addLists(importing: Importing): void {
  for (const table of importing.joins) {
    const [first, second] = table.foreignKeys as [CatalogForeignKey, CatalogForeignKey];
    addList(table, { own: first, other: second }, importing);
    addList(table, { own: second, other: first }, importing);
    noteJoin(table, importing);
  }
}

interface Ends {
  readonly own: CatalogForeignKey;
  readonly other: CatalogForeignKey;
}

function addList(table: CatalogTable, { own, other }: Ends, { types }: Importing): void {
  const [here, there] = [types.get(keyOf(own.table)), types.get(keyOf(other.table))];
  if (!here || !there) return;
  const wanted =
    here === there
      ? pluralName(upperFirst(relationName(other.columns[0]!)))
      : pluralName(there.name);
  const taken = here.fields.some(({ name }) => name === wanted);
  here.fields.push({
    name: here.names(taken ? `${wanted}By${typeName(table.name)}` : wanted),
    type: `[${there.name}!]!`,
    directives: [
      directive('relation', {
        table: table.name,
        schema: schemaOf(table.schema),
        columns: [...own.columns, ...other.columns],
      }),
    ],
    unique: false,
  });
}

function noteJoin(table: CatalogTable, { types, items }: Importing): void {
  const ends = table.foreignKeys.map((key) => types.get(keyOf(key.table))?.name ?? '?');
  const as = `lists of ${ends.join(' and ')}`;
  items.push({ object: objectOf(table), kind: 'table', status: 'kept', as });
  for (const { name } of table.columns)
    items.push({ object: `${objectOf(table)}.${name}`, kind: 'column', status: 'kept', as });
  for (const key of table.foreignKeys)
    items.push({
      object: `${objectOf(table)}.${key.name ?? key.columns.join('+')}`,
      kind: 'foreign key',
      status: 'kept',
      as,
    });
}
