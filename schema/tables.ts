import type {
  Column,
  ColumnDefault,
  ColumnType,
  Constraint,
  Fold,
  JoinKey,
  OnDelete,
  Project,
} from './model.ts';
import { indexName, searchName } from './names.ts';
import { createMemory } from './remembered.ts';

/**
 * A table of the database. `buildTables` makes them from the model; a migration is the difference
 * of two lists, and a server that has only a schema string creates them directly.
 */
export interface Table {
  readonly name: string;
  /** Its schema on PostgreSQL; that of the connection when absent. */
  readonly schema?: string;
  readonly columns: readonly TableColumn[];
  /** Columns of the primary key: `['id']`, or both keys of a join table. */
  readonly primaryKey: readonly string[];
  /**
   * Foreign keys of several columns; absent when there are none. A foreign key of one column is
   * part of that column.
   */
  readonly foreignKeys?: readonly TableForeignKey[];
  readonly indexes: readonly TableIndex[];
  readonly renamedFrom?: string;
}

/** A foreign key of several columns, in the order of the columns that it refers to. */
export interface TableForeignKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: OnDelete;
}

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The column's type in PostgreSQL, from `@column(type:)`. */
  readonly databaseType?: string;
  readonly required: boolean;
  readonly unique: boolean;
  readonly default?: ColumnDefault;
  /** Allowed values of an enum column, as a check constraint. */
  readonly values?: readonly string[];
  readonly constraint?: Constraint;
  /** A condition as SQL text that the user wrote into a migration. */
  readonly check?: string;
  readonly references?: {
    readonly table: string;
    readonly column: string;
    readonly onDelete: OnDelete;
  };
  readonly renamedFrom?: string;
}

export interface TableIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  readonly fold?: Fold;
  /** For full-text search: the language of the words in its columns, and the key of the table. */
  readonly search?: { readonly language: string; readonly key: readonly string[] };
}

/**
 * Every table the model needs, entities first in the schema's order, join tables after them.
 *
 * @example
 * buildTables(project).map((table) => table.name) // ['users', 'posts', 'post_tags']
 */
export function buildTables(project: Project): Table[] {
  const known = new Map(project.entities.map((entity) => [entity.name, entity]));
  return [
    ...project.entities
      .filter(({ view }) => !view)
      .map((entity) => made(entity, referred(known, entity), () => entityTable(known, entity))),
    ...joinTables(project, known),
  ];
}

type KnownEntity = Project['entities'][number];
type Entities = ReadonlyMap<string, KnownEntity>;

/**
 * The check constraints of a column, as SQL for both databases: the values of an enum, and the
 * numbers and lengths of `@constraint`. Lists are JSON, and decimals are text on SQLite, so they
 * have no checks.
 *
 * @example
 * columnChecks({ name: 'age', type: 'integer', constraint: { min: 0 }, … }) // ['"age" >= 0']
 */
export function columnChecks(column: TableColumn): string[] {
  return column.check === undefined ? modelChecks(column) : [column.check];
}

/** What the database has of a column, which is what a migration says of it. */
export function storedColumn(column: TableColumn): TableColumn {
  const { name, type, required, unique, default: made, values, constraint = {}, check } = column;
  const { min, max, minLength, maxLength } = columnChecks(column).length > 0 ? constraint : {};
  const bounds = Object.entries({ min, max, minLength, maxLength });
  const set = bounds.filter(([, limit]) => limit !== undefined);
  return {
    name,
    type,
    required,
    unique,
    ...(made?.kind === 'value' && made.value !== null && { default: made }),
    ...(values && { values }),
    ...(set.length > 0 && { constraint: Object.fromEntries(set) }),
    ...(check !== undefined && { check }),
    ...(column.references && { references: column.references }),
  };
}

function modelChecks({ name, type, values, constraint }: TableColumn): string[] {
  const quoted = `"${name}"`;
  const listed = values
    ? [`${quoted} in (${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})`]
    : [];
  const bound = (subject: string, operator: '>=' | '<=', limit: number | undefined) =>
    limit === undefined ? [] : [`${subject} ${operator} ${limit}`];
  if (!constraint) return listed;
  const { min, max, minLength, maxLength } = constraint;
  if (['integer', 'bigint', 'real'].includes(type))
    return [...listed, ...bound(quoted, '>=', min), ...bound(quoted, '<=', max)];
  return type === 'text'
    ? [
        ...listed,
        ...bound(`length(${quoted})`, '>=', minLength),
        ...bound(`length(${quoted})`, '<=', maxLength),
      ]
    : listed;
}

const made = createMemory<Project['entities'][number], Table>();

/** The tables that an entity's columns reference. */
function referred(known: Entities, entity: KnownEntity): (KnownEntity | undefined)[] {
  return entity.columns.flatMap(({ references }) =>
    references ? [known.get(references.entity)] : [],
  );
}

function entityTable(known: Entities, entity: KnownEntity): Table {
  const primaryKey = keyColumns(entity).map(({ stored, name }) => stored ?? name);
  const columns = entity.columns.flatMap((column) => tableColumn(known, column));
  return {
    name: entity.table,
    ...(entity.schema !== undefined && { schema: entity.schema }),
    columns: columns.map((column) => (isWholeKey(column, primaryKey) ? asKey(column) : column)),
    primaryKey,
    ...someOf(entity.columns.flatMap((column) => tableForeignKey(known, entity, column))),
    indexes: [
      ...entity.indexes.map((index) => ({
        ...index,
        columns: index.columns.flatMap((column) => storedColumns(entity, column)),
      })),
      ...searchIndex(entity),
    ],
    ...(entity.renamedFrom && { renamedFrom: entity.renamedFrom }),
  };
}

/** The index of `@search`, as one of the table's indexes. */
function searchIndex(entity: KnownEntity): TableIndex[] {
  if (!entity.search) return [];
  const { columns, language } = entity.search;
  return [
    {
      name: searchName(entity.table),
      columns: columns.flatMap((column) => storedColumns(entity, column)),
      unique: false,
      search: { language, key: keyColumns(entity).map(({ stored, name }) => stored ?? name) },
    },
  ];
}

const isWholeKey = ({ name }: TableColumn, primaryKey: readonly string[]): boolean =>
  primaryKey.length === 1 && primaryKey[0] === name;

/** The column of the primary key. Such a column is required and unique without saying so. */
const asKey = (column: TableColumn): TableColumn => ({ ...column, required: true, unique: false });

/** The columns of the database that are a column of the model. */
function storedColumns({ columns }: KnownEntity, name: string): string[] {
  const column = columns.find((each) => each.name === name);
  const names = column?.parts ?? [name];
  return names.map((part) => columns.find((each) => each.name === part)?.stored ?? part);
}

/** The columns of an entity's key. */
function keyColumns({ columns }: KnownEntity): KnownEntity['columns'] {
  const id = columns.find(({ name }) => name === 'id');
  const parts = id?.parts ?? ['id'];
  return parts.flatMap((part) => columns.find(({ name }) => name === part) ?? []);
}

/** The list; undefined when it is empty, because most tables have none. */
const someOf = (
  foreignKeys: readonly TableForeignKey[],
): { readonly foreignKeys?: readonly TableForeignKey[] } =>
  foreignKeys.length > 0 ? { foreignKeys } : {};

/** The foreign key of a column of the model that stands for several columns of the table. */
function tableForeignKey(
  known: Entities,
  entity: KnownEntity,
  { name, parts, references }: KnownEntity['columns'][number],
): TableForeignKey[] {
  if (!parts || !references) return [];
  const columns = storedColumns(entity, name);
  return foreignKey(known, columns, references);
}

/**
 * The foreign key of a column. There is none if the other type cannot be referred to, as a view.
 */
function foreignKey(
  known: Entities,
  columns: readonly string[],
  { entity: of, to, onDelete }: Reference,
): TableForeignKey[] {
  const other = known.get(of);
  if (!other || other.view) return [];
  const references = storedColumns(other, to ?? 'id');
  return references.length === columns.length
    ? [{ columns, table: other.table, references, onDelete }]
    : [];
}

type Reference = NonNullable<KnownEntity['columns'][number]['references']>;

/** The columns of the table for a column of the model. A composite key has no column of its own. */
function tableColumn(known: Entities, column: KnownEntity['columns'][number]): TableColumn[] {
  if (column.parts) return [];
  const { name, stored, type, databaseType, required, constraint, references } = column;
  const values = column.values?.map((value) => column.storedValues?.[value] ?? value);
  const renamedFrom = column.renamedFrom ?? (stored === undefined ? undefined : name);
  const fallback = storedDefault(column);
  return [
    {
      name: stored ?? name,
      type: type === 'id' && column.key ? KEY_TYPES[column.key] : type,
      ...(databaseType !== undefined && { databaseType }),
      required,
      unique: column.unique,
      ...(fallback && { default: fallback }),
      ...(values && { values }),
      ...(constraint && { constraint }),
      ...(references && { references: reference(known, references) }),
      ...(renamedFrom && { renamedFrom }),
    },
  ];
}

/** The default as the table has it: JSON as its text. The database's own is left to it. */
function storedDefault({ default: made, type }: Column): ColumnDefault | undefined {
  if (made?.kind === 'database') return undefined;
  return made?.kind === 'value' && made.value !== null && type === 'json'
    ? { kind: 'value', value: JSON.stringify(made.value) }
    : made;
}

/** The types of keys. A whole number that the database counts has the type of all such keys. */
const KEY_TYPES = { integer: 'id', uuid: 'uuid', text: 'text' } as const;

function reference(known: Entities, { entity: of, onDelete, to }: Reference) {
  const entity = known.get(of);
  const column = to ?? (entity && keyColumns(entity)[0]?.name) ?? 'id';
  return {
    table: entity?.table ?? of,
    column: (entity && storedColumns(entity, column)[0]) ?? column,
    onDelete,
  };
}

function joinTables(project: Project, known: Entities): Table[] {
  const tables = new Map<string, Table>();
  for (const entity of project.entities) {
    for (const field of entity.fields) {
      if (field.source.kind !== 'many' || field.source.via.kind !== 'table') continue;
      const { table, schema, own, other, managed } = field.source.via;
      if (tables.has(table) || managed) continue;
      const near = joinColumns(known, own, entity.name);
      const far = joinColumns(known, other, field.source.entity);
      const columns = far.map(({ name }) => name);
      tables.set(table, {
        name: table,
        ...(schema !== undefined && { schema }),
        columns: [...near, ...far],
        primaryKey: [...near.map(({ name }) => name), ...columns],
        ...someOf([
          ...joinForeignKey(known, near, entity.name),
          ...joinForeignKey(known, far, field.source.entity),
        ]),
        indexes: [{ name: indexName(table, columns, false), columns, unique: false }],
      });
    }
  }
  return [...tables.values()];
}

/** The foreign key of one side of a join table whose key has several columns. */
function joinForeignKey(
  known: Entities,
  side: readonly TableColumn[],
  of: string,
): TableForeignKey[] {
  const columns = side.map(({ name }) => name);
  return columns.length > 1 ? foreignKey(known, columns, { entity: of, onDelete: 'cascade' }) : [];
}

/**
 * The columns of a join table for one key. They have the types of the columns that they refer to.
 */
function joinColumns(known: Entities, key: JoinKey, of: string): TableColumn[] {
  const entity = known.get(of);
  const parts = entity ? keyColumns(entity) : [];
  const names = typeof key === 'string' ? [key] : key;
  return names.map((name, index) => {
    const { type = 'id', key: kind } = parts[index] ?? {};
    return {
      name,
      type: type === 'id' && kind ? KEY_TYPES[kind] : type,
      required: true,
      unique: false,
      ...(names.length === 1 && {
        references: reference(known, { entity: of, onDelete: 'cascade' }),
      }),
    };
  });
}
