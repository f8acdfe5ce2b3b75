import { asIso } from '../data/sql/time-form.ts';
import type { Column, JoinKey } from '@twofold/schema';
import { isDigits } from '../data/sql/json.ts';
import { asBuffers, propertyOf, type EntityModel, type Model, camelCase } from '../data/model.ts';

/** A column of a table, or of the result of a query. */
export interface NamedColumn {
  /** In the database. */
  readonly column: string;
  /** In the project's own code. */
  readonly name: string;
  /**
   * Converts a value of the driver to the form that the project's code gets; absent when they are
   * equal.
   */
  readonly convert?: ((value: unknown) => unknown) | undefined;
}

export interface NamedTable {
  /** In the database. */
  readonly table: string;
  /** Its schema on PostgreSQL; that of the connection when absent. */
  readonly schema?: string | undefined;
  readonly columns: readonly NamedColumn[];
}

/** The names that the schema has for the tables and columns of the database. */
export interface NamedTables {
  /**
   * A table by its name in the schema or in the database. A query may name a schema of PostgreSQL
   * too, and must where two of them have a table of this name.
   */
  find(name: string, schema?: string): NamedTable | undefined;
  /** Columns by their name in the database, if all tables with such a column agree on it. */
  readonly columns: ReadonlyMap<string, NamedColumn>;
}

/** @example namedTables(model).find('blogPosts')?.table // 'blog_posts' */
export function namedTables(model: Model): NamedTables {
  const tables = [...[...model.entities.values()].map(entityTable), ...joinTables(model)];
  const inDatabase = byName(tables, ({ table }) => table);
  const inSchema = byName(tables, ({ table }) => camelCase(table));
  const findBy = (key: string) => inSchema.get(key) ?? inDatabase.get(key);
  return {
    find: (name, schema) =>
      (schema === undefined ? undefined : findBy(`${schema}.${name}`)) ?? findBy(name),
    columns: agreed(tables),
  };
}

/** Tables by their name, and by `schema.name`. Of two with one name, that without a schema has it. */
function byName(
  tables: readonly NamedTable[],
  nameOf: (table: NamedTable) => string,
): ReadonlyMap<string, NamedTable> {
  const found = new Map<string, NamedTable>();
  for (const table of tables.filter(({ schema }) => schema !== undefined))
    found.set(nameOf(table), table).set(`${table.schema}.${nameOf(table)}`, table);
  for (const table of tables) if (table.schema === undefined) found.set(nameOf(table), table);
  return found;
}

const entityTable = (model: EntityModel): NamedTable => ({
  table: model.entity.table,
  schema: model.entity.schema,
  columns: model.entity.columns
    .filter(({ parts }) => !parts)
    .map((column) => ({
      column: column.stored ?? column.name,
      name: propertyOf(model, column),
      convert: model.byteLists.includes(column) ? asBuffers : conversionOf(column),
    })),
});

function joinTables(model: Model): NamedTable[] {
  const made = new Map<string, NamedTable>();
  for (const entity of model.entities.values())
    for (const { source } of entity.fields.values()) {
      if (source.kind !== 'many' || source.via.kind !== 'table') continue;
      const { table, schema, own, other } = source.via;
      const columns = [
        ...keyColumns(entity, own),
        ...keyColumns(model.entity(source.entity), other),
      ];
      const key = `${schema ?? ''}.${table}`;
      if (!made.has(key)) made.set(key, { table, schema, columns });
    }
  return [...made.values()];
}

/** The columns of a table between two entities that refer to the key of one of them. */
const keyColumns = (of: EntityModel, key: JoinKey): NamedColumn[] =>
  [key].flat().map((column, index) => ({
    column,
    name: camelCase(column),
    convert: conversionOf(of.column(of.key[index]!)),
  }));

/** Drivers differ in these types alone. */
function conversionOf(column: Column): NamedColumn['convert'] {
  if (isDigits(column)) return unlessNull(String);
  if (column.timeForm)
    return unlessNull((value) => asIso(value, column.type === 'date' ? 'day' : 'time'));
  return column.type === 'bytes' ? unlessNull(asBuffer) : undefined;
}

const unlessNull = (convert: (value: unknown) => unknown) => (value: unknown) =>
  value === null || value === undefined ? value : convert(value);

function asBuffer(value: unknown): unknown {
  if (!(value instanceof Uint8Array) || Buffer.isBuffer(value)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function agreed(tables: readonly NamedTable[]): Map<string, NamedColumn> {
  const found = new Map<string, NamedColumn[]>();
  for (const column of tables.flatMap(({ columns }) => columns))
    found.set(column.column, [...(found.get(column.column) ?? []), column]);
  return new Map(
    [...found].flatMap(([key, [first, ...others]]) => {
      if (!first || others.some(({ name }) => name !== first.name)) return [];
      const converted = others.every(({ convert }) => !convert === !first.convert);
      return [[key, converted ? first : { column: key, name: first.name }] as const];
    }),
  );
}
