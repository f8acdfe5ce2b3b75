import type { ColumnDefault, ColumnType, Constraint, Fold, OnDelete, Project } from './model.ts';
import { indexName } from './names.ts';
import { createMemory } from './remembered.ts';

/**
 * A table of the database. `buildTables` makes them from the model; a migration is the difference
 * of two lists, and a server that has only a schema string creates them directly.
 */
export interface Table {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  /** Columns of the primary key: `['id']`, or both keys of a join table. */
  readonly primaryKey: readonly string[];
  readonly indexes: readonly TableIndex[];
  readonly renamedFrom?: string;
}

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
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
}

/**
 * Every table the model needs, entities first in the schema's order, join tables after them.
 *
 * @example
 * buildTables(project).map((table) => table.name) // ['users', 'posts', 'post_tags']
 */
export function buildTables(project: Project): Table[] {
  const tables = new Map(project.entities.map((entity) => [entity.name, entity.table]));
  return [
    ...project.entities.map((entity) =>
      made(entity, referred(tables, entity), () => entityTable(tables, entity)),
    ),
    ...joinTables(project, tables),
  ];
}

/** Name of an entity → name of its table. */
type TableNames = ReadonlyMap<string, string>;

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
function referred(tables: TableNames, entity: Project['entities'][number]): (string | undefined)[] {
  return entity.columns.flatMap(({ references }) =>
    references ? [tables.get(references.entity)] : [],
  );
}

function entityTable(tables: TableNames, entity: Project['entities'][number]): Table {
  return {
    name: entity.table,
    columns: entity.columns.map((column) => ({
      name: column.name,
      type: column.type,
      required: column.required,
      unique: column.unique,
      ...(column.default && { default: column.default }),
      ...(column.values && { values: column.values }),
      ...(column.constraint && { constraint: column.constraint }),
      ...(column.references && { references: reference(tables, column.references) }),
      ...(column.renamedFrom && { renamedFrom: column.renamedFrom }),
    })),
    primaryKey: ['id'],
    indexes: entity.indexes,
    ...(entity.renamedFrom && { renamedFrom: entity.renamedFrom }),
  };
}

function reference(
  tables: TableNames,
  to: { readonly entity: string; readonly onDelete: OnDelete },
) {
  return { table: tables.get(to.entity) ?? to.entity, column: 'id', onDelete: to.onDelete };
}

function joinTables(project: Project, names: TableNames): Table[] {
  const tables = new Map<string, Table>();
  for (const entity of project.entities) {
    for (const field of entity.fields) {
      if (field.source.kind !== 'many' || field.source.via.kind !== 'table') continue;
      const { table, own, other, managed } = field.source.via;
      if (tables.has(table) || managed) continue;
      const key = (name: string, of: string): TableColumn => ({
        name,
        type: 'id',
        required: true,
        unique: false,
        references: reference(names, { entity: of, onDelete: 'cascade' }),
      });
      tables.set(table, {
        name: table,
        columns: [key(own, entity.name), key(other, field.source.entity)],
        primaryKey: [own, other],
        indexes: [{ name: indexName(table, [other], false), columns: [other], unique: false }],
      });
    }
  }
  return [...tables.values()];
}
