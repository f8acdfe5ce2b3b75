import type { Table, TableColumn, TableForeignKey } from '../../../schema/index.ts';
import type { Random } from '../random.ts';
import { change, type Walk } from './random-tables.ts';

const ACTIONS = ['cascade', 'set null', 'restrict'] as const;

const part = (name: string, type: 'text' | 'integer', required: boolean): TableColumn => ({
  name,
  type,
  required,
  unique: false,
});

/** Columns whose type and nulls stay, because a key or a foreign key needs them. */
export const isOfKey = ({ primaryKey, foreignKeys = [] }: Table, { name }: TableColumn): boolean =>
  primaryKey.includes(name) || foreignKeys.some(({ columns }) => columns.includes(name));

/** A table whose key is two columns. */
export function addPairTable({ tables, made }: Walk, random: Random): Walk {
  const [first, second] = [`column_${made + 1}`, `column_${made + 2}`];
  const table: Table = {
    name: `table_${made}`,
    columns: [
      part(first, 'text', true),
      part(second, random.pick(['text', 'integer']), true),
      part(`column_${made + 3}`, 'text', false),
    ],
    primaryKey: [first, second],
    indexes: [],
  };
  return { tables: [...tables, table], made: made + 4 };
}

/** Two columns of any table that lead to such a table, also to itself. */
export function addForeignKey(walk: Walk, random: Random): Walk {
  const pairs = walk.tables.filter(({ primaryKey }) => primaryKey.length === 2);
  if (pairs.length === 0) return addPairTable(walk, random);
  const [target, table] = [random.pick(pairs), random.pick(walk.tables)];
  const types = target.primaryKey.map(
    (name) => target.columns.find((each) => each.name === name)!.type as 'text' | 'integer',
  );
  const own = types.map((type, at) => part(`column_${walk.made + at}`, type, false));
  const key: TableForeignKey = {
    columns: own.map(({ name }) => name),
    table: target.name,
    references: target.primaryKey,
    onDelete: random.pick(ACTIONS),
  };
  return change(
    walk,
    table,
    (each) => ({
      ...each,
      columns: [...each.columns, ...own],
      foreignKeys: [...(each.foreignKeys ?? []), key],
    }),
    2,
  );
}

/** The foreign key goes, or another action follows on a deleted row; its columns stay. */
export function changeForeignKey(walk: Walk, random: Random): Walk {
  const having = walk.tables.filter(({ foreignKeys }) => foreignKeys);
  if (having.length === 0) return addForeignKey(walk, random);
  const table = random.pick(having);
  const [first, ...others] = table.foreignKeys!;
  const next = random.chance(0.5) ? [{ ...first!, onDelete: random.pick(ACTIONS) }] : [];
  return change(walk, table, (each) => withForeignKeys(each, [...next, ...others]));
}

/** The list is absent where a table has none. */
export function withForeignKeys(table: Table, keys: readonly TableForeignKey[]): Table {
  const { foreignKeys: _foreignKeys, ...rest } = table;
  return { ...rest, ...(keys.length > 0 && { foreignKeys: keys }) };
}

/** Names that other tables have in their foreign keys, after a rename. */
export function renamedKeys(
  table: Table,
  rename: { readonly of: string; readonly column?: string; readonly to: string },
): Table {
  const { of, column, to } = rename;
  const named = (name: string) => (name === column ? to : name);
  return withForeignKeys(
    table,
    (table.foreignKeys ?? []).map((key) => {
      const own = table.name === of && column !== undefined ? key.columns.map(named) : key.columns;
      if (key.table !== of) return { ...key, columns: own };
      return column === undefined
        ? { ...key, columns: own, table: to }
        : { ...key, columns: own, references: key.references.map(named) };
    }),
  );
}
