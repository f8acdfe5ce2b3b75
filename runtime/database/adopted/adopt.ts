import type { Misfit } from '@twofold/runtime/kernel';
import type { Dialect } from '@twofold/runtime/store';
import {
  canonicalType,
  type Column,
  type Entity,
  fitsDatabaseType,
  type JoinKey,
  type KeyKind,
  type Project,
} from '@twofold/schema';
import type { Catalog, CatalogColumn, CatalogTable } from '../catalog/catalog.ts';

/** The model with facts that only the database has, and all differences between the two. */
export interface Adopted {
  readonly project: Project;
  readonly misfits: readonly Misfit[];
}

/**
 * Compares the model with the catalog of a database that others made. What the schema does not say
 * of a key (whether it is a number, a UUID or a text) is taken from the catalog.
 *
 * @example const { project, misfits } = adopt(app.project, await readCatalog(catalogSource(store.db)));
 */
export function adopt(project: Project, catalog: Catalog): Adopted {
  const places = new Map(
    project.entities.map((entity) => [entity.name, findTable(catalog, entity)]),
  );
  return {
    project: { ...project, entities: withKeys(project, places, catalog) },
    misfits: [
      ...project.entities.flatMap((entity) => [
        ...entityMisfits(project, catalog, entity, places.get(entity.name)),
        ...joinMisfits(catalog, entity),
      ]),
      ...accountMisfits(project, places, catalog),
    ],
  };
}

type Places = ReadonlyMap<string, CatalogTable | undefined>;

/** The table, in the schema that is named or in the first of the search path that has it. */
function findTable(
  { tables, schemas, dialect }: Catalog,
  { table, schema }: { readonly table: string; readonly schema?: string },
): CatalogTable | undefined {
  const isThis = (each: CatalogTable) =>
    dialect === 'sqlite'
      ? each.name.toLowerCase() === table.toLowerCase()
      : each.name === table && (schema === undefined || each.schema === schema);
  return tables
    .filter(isThis)
    .toSorted((a, b) => schemas.indexOf(a.schema) - schemas.indexOf(b.schema))[0];
}

const storedName = ({ stored, name }: Column) => stored ?? name;

const columnIn = (table: CatalogTable | undefined, name: string): CatalogColumn | undefined =>
  table?.columns.find((each) => each.name === name) ??
  table?.columns.find((each) => each.name.toLowerCase() === name.toLowerCase());

/**
 * Sets the form of keys that the schema leaves open to the catalog's form, also in the references
 * to them.
 */
function withKeys(project: Project, places: Places, { dialect }: Catalog): Entity[] {
  const kinds = new Map(
    project.entities.flatMap((entity) => {
      const id = entity.columns.find(({ name, parts, key }) => name === 'id' && !parts && !key);
      const found = id && columnIn(places.get(entity.name), storedName(id));
      return found ? [[entity.name, { found, kind: keyKindOf(found, dialect) }] as const] : [];
    }),
  );
  const withKind = (entity: Entity, column: Column): Column => {
    const of = column.name === 'id' ? entity.name : column.references?.entity;
    const known = of === undefined || column.parts || column.key ? undefined : kinds.get(of);
    if (!known || column.references?.to !== undefined) return column;
    const isMade = column.name === 'id' && known.kind === 'uuid' && !known.found.default;
    return { ...column, key: known.kind, ...(isMade && { default: { kind: 'uuid' } }) };
  };
  return project.entities.map((entity) => ({
    ...entity,
    columns: entity.columns.map((column) => withKind(entity, column)),
  }));
}

function entityMisfits(
  project: Project,
  catalog: Catalog,
  entity: Entity,
  table: CatalogTable | undefined,
): Misfit[] {
  const object = [entity.schema, entity.table].filter((part) => part !== undefined).join('.');
  if (!table)
    return [
      {
        coordinate: entity.name,
        object,
        expected: entity.view ? 'a view or a table' : 'a table',
        found: 'none of this name',
      },
    ];
  const isView = table.kind === 'view' || table.kind === 'materialized view';
  const notWritten = isView && !entity.view;
  return [
    ...(notWritten
      ? [{ coordinate: entity.name, object, expected: 'a table, or view: true', found: 'a view' }]
      : []),
    ...entity.columns
      .filter(({ parts }) => !parts)
      .flatMap((column) => columnMisfits({ project, catalog, entity, table, isView }, column)),
    ...(entity.view || isView ? [] : keyMisfits(entity, table, object)),
  ];
}

/**
 * The misfits of the rows that accounts refer to. The tables of accounts have one form of key for
 * users and organizations, which `database.ids` names.
 */
function accountMisfits({ auth, entities, ids }: Project, places: Places, of: Catalog): Misfit[] {
  const referred = [auth?.user.entity, auth?.organizations?.entity];
  return entities.flatMap(({ name, table, columns }): Misfit[] => {
    const id = columns.find((each) => each.name === 'id' && !each.parts);
    const found = id && columnIn(places.get(name), storedName(id));
    if (!found || !referred.includes(name)) return [];
    const kind = keyKindOf(found, of.dialect);
    const fits = kind === ids || (of.dialect === 'sqlite' && kind === 'text' && ids === 'uuid');
    const fix = `in manifest.yaml: database: { ids: ${kind} }`;
    const advice = kind === 'text' ? 'accounts need a whole number or a UUID' : fix;
    return fits
      ? []
      : [
          {
            coordinate: `${name}.id`,
            object: `${table}.${found.name}`,
            expected: `a key as database: { ids: ${ids} } has it, to which accounts refer`,
            found: `${found.type}: ${advice}`,
          },
        ];
  });
}

interface Compared {
  readonly project: Project;
  readonly catalog: Catalog;
  readonly entity: Entity;
  readonly table: CatalogTable;
  readonly isView: boolean;
}

function columnMisfits(compared: Compared, column: Column): Misfit[] {
  const { catalog, entity, table, isView } = compared;
  const name = storedName(column);
  const found = columnIn(table, name);
  const at = {
    coordinate: `${entity.name}.${column.field ?? relationOf(entity, column.name) ?? column.name}`,
    object: `${table.name}.${name}`,
  };
  if (!found) return [{ ...at, expected: 'a column', found: 'none of this name' }];
  const misfits: Misfit[] = [];
  if (!fitsType(column, found, catalog.dialect))
    misfits.push({ ...at, expected: typeOf(column), found: found.type });
  const isKey = catalog.dialect === 'sqlite' && table.primaryKey?.columns.includes(found.name);
  if (column.required && found.nullable && !isView && !isKey)
    misfits.push({ ...at, expected: 'not null', found: 'a column that may be null' });
  return [...misfits, ...enumMisfits(compared, column, found).map((each) => ({ ...at, ...each }))];
}

const typeOf = ({ databaseType, type, list, scalar }: Column) =>
  databaseType ?? (list ? `a list of ${scalar}` : type === 'id' ? 'a key' : scalar);

/** The relation whose key the column is. */
const relationOf = ({ fields }: Entity, column: string) =>
  fields.find(({ source }) => source.kind === 'one' && source.column === column)?.name;

function enumMisfits(
  { catalog }: Compared,
  { values, storedValues }: Column,
  { typeKind, typeName }: CatalogColumn,
): Pick<Misfit, 'expected' | 'found'>[] {
  if (!values || typeKind !== 'enum') return [];
  const theirs = catalog.enums.find(
    ({ schema, name }) => schema === typeName.schema && name === typeName.name,
  )?.values;
  const ours = values.map((value) => storedValues?.[value] ?? value);
  if (!theirs || same(ours, theirs)) return [];
  return [{ expected: `the values ${ours.join(', ')}`, found: theirs.join(', ') }];
}

const same = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((value) => b.includes(value));

/**
 * The misfits of a key: rows must have the key of the schema as their primary key, or as a unique
 * one without nulls.
 */
function keyMisfits(entity: Entity, table: CatalogTable, object: string): Misfit[] {
  const parts = entity.columns.find(({ name }) => name === 'id')?.parts ?? ['id'];
  const names = parts.map((part) => {
    const column = entity.columns.find(({ name }) => name === part);
    return columnIn(table, column ? storedName(column) : part)?.name ?? part;
  });
  const uniques = [
    ...(table.primaryKey ? [table.primaryKey.columns] : []),
    ...table.uniques.map(({ columns }) => columns),
    ...table.indexes
      .filter(({ unique, where, onExpressions }) => unique && where === null && !onExpressions)
      .map(({ columns }) => columns as readonly string[]),
  ];
  if (uniques.some((columns) => same(columns, names))) return [];
  const primary = table.primaryKey?.columns;
  return [
    {
      coordinate: entity.name,
      object,
      expected: `the key ${names.join(', ')}`,
      found: primary ? `the key ${primary.join(', ')}` : 'no key',
    },
  ];
}

function joinMisfits(catalog: Catalog, { name, fields }: Entity): Misfit[] {
  return fields.flatMap(({ name: field, source }) => {
    if (source.kind !== 'many' || source.via.kind !== 'table' || source.via.managed) return [];
    const { via } = source;
    const coordinate = `${name}.${field}`;
    const table = findTable(catalog, via);
    if (!table)
      return [
        { coordinate, object: via.table, expected: 'a join table', found: 'none of this name' },
      ];
    const columns = [...columnsOf(via.own), ...columnsOf(via.other)];
    return columns
      .filter((column) => !columnIn(table, column))
      .map((column) => ({
        coordinate,
        object: `${via.table}.${column}`,
        expected: 'a column',
        found: 'none of this name',
      }));
  });
}

const columnsOf = (key: JoinKey) => (typeof key === 'string' ? [key] : key);

/**
 * Whether values of the database's column can be served as the model's. A type that `@column(type:)`
 * names has to be that one. SQLite keeps any value in any column, so that every type fits there.
 *
 * @example fitsType(column, found, 'postgres')
 */
export function fitsType(column: Column, found: CatalogColumn, dialect: Dialect): boolean {
  if (dialect === 'sqlite') return true;
  const { type, list, key, references, databaseType } = column;
  // What refers to a key may be of another type of the same kind: text to varchar(30).
  if (databaseType !== undefined && !references) return isSameType(databaseType, found);
  const isKey = key !== undefined || references !== undefined;
  if (found.typeKind === 'array') return type === 'json' && list;
  if (found.typeKind === 'enum') return type === 'text';
  if (found.typeKind === 'domain') return true;
  return fitsDatabaseType({ type: isKey ? 'id' : type, list }, found.typeName.name) === true;
}

/** Whether the schema names the type that the column has: without its schema and parameters. */
function isSameType(written: string, { type, typeName, typeKind }: CatalogColumn): boolean {
  const own = `${typeName.name}${typeKind === 'array' ? '[]' : ''}`;
  return [canonicalType(type), canonicalType(own)].includes(canonicalType(written));
}

const WHOLE: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'numeric']);

/** How the values of a key are written. */
export function keyKindOf(found: CatalogColumn, dialect: Dialect): KeyKind {
  if (dialect === 'sqlite') return /int/i.test(found.type) ? 'integer' : 'text';
  const name = canonicalType(found.typeName.name);
  if (name === 'uuid') return 'uuid';
  return WHOLE.has(name) ? 'integer' : 'text';
}
