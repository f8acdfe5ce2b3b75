import type { CatalogColumn, CatalogForeignKey, CatalogTable } from '@twofold/database';
import { snakeCase } from '@twofold/schema';
import { keyOf, postgresType, sqliteType, type FieldType } from './column-type.ts';
import { fieldName, lowerFirst, relationName } from './names.ts';
import { readCheck, type PlainCheck } from './read-check.ts';
import { foreignKeyItem, relationsOf } from './foreign-keys.ts';
import { isCredentialName, directive, type ImportedField, type ReportItem } from '../imported.ts';
import {
  isDefaultSchema,
  objectOf,
  refersToKey,
  type Importing,
  type TypeInProgress,
} from './types.ts';

/** Fills the fields of a type from the columns of its table, in their order. */
export function addFields(type: TypeInProgress, importing: Importing): void {
  const { table } = type;
  const relations = relationsOf(table, importing);
  const single = relations.some(({ columns }) => columns.join() === singleKey(table))
    ? undefined
    : singleKey(table);
  const checks = checksOf(type, importing);
  const keyColumns = keyColumnsOf(table);
  type.view = keyColumns.length === 0;
  const isWritten =
    keyColumns.length > 1 || relations.some(({ columns }) => columns.join() === keyColumns.join());
  if (single !== undefined || isWritten) type.names('id');
  for (const { columns } of relations) reserve(columns, type);
  if (isWritten) type.fields.push({ name: 'id', type: 'ID!', directives: [], unique: false });
  for (const column of table.columns) {
    const relation = relations.find(({ columns }) => columns.includes(column.name));
    const described = { column, check: checks.get(column.name) };
    if (column.name === single) type.fields.push(idField(type, column, importing));
    else if (isClosed(column, keyColumns)) type.fields.push(closedField(type, column, importing));
    else if (!relation) type.columns.set(column.name, addColumn(type, described, importing));
    else {
      const inKey = keyColumns.includes(column.name);
      addPart(type, { ...described, relation, inKey }, importing);
    }
  }
  if (keyColumns.length > 0 && single === undefined)
    type.key = keyColumns.map((name) => type.columns.get(name) ?? fieldName(name));
}

interface Part extends Described {
  readonly relation: CatalogForeignKey;
  readonly inKey: boolean;
}

/** Adds a column of a foreign key, which the field of its relation shows. */
function addPart(type: TypeInProgress, part: Part, importing: Importing): void {
  const { column, relation, inKey } = part;
  const isSingle = relation.columns.length === 1;
  if (isSingle && !isGenerated(column))
    type.columns.set(column.name, addRelation(type, relation, importing));
  else if (isSingle || inKey) type.columns.set(column.name, addColumn(type, part, importing));
  else if (relation.columns[0] === column.name) addRelation(type, relation, importing);
  else
    noteColumn(type, column, importing, { status: 'kept', as: `${type.name}, part of a relation` });
}

/** Keeps a column called `authorId` apart from the key `author_id` of the relation `author`. */
function reserve([column = '', second]: readonly string[], { names }: TypeInProgress): void {
  const name = fieldName(column);
  if (second === undefined && name !== relationName(column)) names(name);
}

/** SQLite calls the columns of a key nullable, although a key always has values. */
const isRequired = ({ name, nullable }: CatalogColumn, { primaryKey }: CatalogTable): boolean =>
  !nullable || primaryKey?.columns.includes(name) === true;

const isGenerated = ({ generated }: CatalogColumn) => generated !== null;

const isClosed = ({ name }: CatalogColumn, key: readonly string[]) =>
  isCredentialName(name) && !key.includes(name);

/** The columns of the primary key, else of a unique key without nulls. */
function keyColumnsOf({ primaryKey, uniques, columns, kind }: CatalogTable): readonly string[] {
  if (kind !== 'table') return [];
  if (primaryKey) return primaryKey.columns;
  const required = (name: string) => columns.some((each) => each.name === name && !each.nullable);
  return uniques.find((unique) => unique.columns.every(required))?.columns ?? [];
}

const KEY_TYPE = /int|serial|text|char|uuid|numeric|^$/i;

/** The column that becomes `id`. */
function singleKey({ primaryKey, columns }: CatalogTable): string | undefined {
  const [name, second] = primaryKey?.columns ?? [];
  if (name === undefined || second !== undefined) return undefined;
  const column = columns.find((each) => each.name === name);
  return column && KEY_TYPE.test(column.type) && column.typeKind === 'base' ? name : undefined;
}

function noteColumn(
  { table }: TypeInProgress,
  { name }: Pick<CatalogColumn, 'name'>,
  { items }: Importing,
  found: Pick<ReportItem, 'status' | 'as' | 'why'>,
): void {
  items.push({ object: `${objectOf(table)}.${name}`, kind: 'column', ...found });
}

function idField(type: TypeInProgress, column: CatalogColumn, importing: Importing): ImportedField {
  noteColumn(type, column, importing, { status: 'kept', as: `${type.name}.id` });
  noteDefault(type, column, importing);
  type.columns.set(column.name, 'id');
  return {
    name: 'id',
    type: 'ID!',
    directives: columnDirective('id', column.name, typedKey(column, importing)),
    unique: false,
    ...described(column),
  };
}

/**
 * The stored type of a key that a create has to contain, because the database does not make it, or
 * of one whose type `typedKeys` asks for.
 */
function typedKey(column: CatalogColumn, importing: Importing): { readonly column?: string } {
  const { type, typeName, default: value } = column;
  const isText = /char|text/i.test(typeName.name);
  const isTyped = importing.wishes.typedKeys
    ? (isText && value === null) || !/^(integer|serial)$/i.test(type) || hasUuids(importing)
    : !isMade(column, importing);
  if (!isTyped) return {};
  return { column: importing.catalog.dialect === 'sqlite' && isText ? 'text' : type };
}

/** Whether a table has UUIDs as keys, so that `database.ids` may say `uuid` of untyped ones. */
const hasUuids = ({ catalog }: Importing): boolean =>
  catalog.tables.some((table) => {
    const single = singleKey(table);
    return table.columns.some(({ name, type }) => name === single && type === 'uuid');
  });

/** Whether the database gives a new row its key. SQLite counts only in a column of type INTEGER. */
const isMade = (
  { default: value, identity, type }: CatalogColumn,
  { catalog }: Importing,
): boolean =>
  value !== null || identity !== null || (catalog.dialect === 'sqlite' && /^integer$/i.test(type));

const described = ({ comment }: Pick<CatalogColumn, 'comment'>) =>
  comment === null ? {} : { description: comment };

const nameOf = ({ names, table }: TypeInProgress, column: CatalogColumn, { wishes }: Importing) =>
  names(wishes.fieldName?.(table, column) ?? fieldName(column.name));

const closedWhy = ({ nullable, default: value }: CatalogColumn) =>
  `it is named like a credential, which no answer should have${
    nullable || value !== null ? '' : '; without it no row can be created: take the # away'
  }`;

function closedField(
  type: TypeInProgress,
  column: CatalogColumn,
  importing: Importing,
): ImportedField {
  const name = nameOf(type, column, importing);
  const found = typeOf(type, { column, check: undefined }, importing);
  const why = closedWhy(column);
  noteColumn(type, column, importing, { status: 'closed', why });
  noteDefault(type, column, importing);
  return {
    name,
    type: `${found.type}${column.nullable ? '' : '!'}`,
    directives: columnDirective(name, column.name, found),
    unique: false,
    closed: `closed: ${why}`,
  };
}

interface Described {
  readonly column: CatalogColumn;
  readonly check: PlainCheck | undefined;
}

function addColumn(
  type: TypeInProgress,
  { column, check }: Described,
  importing: Importing,
): string {
  const name = nameOf(type, column, importing);
  const found = typeOf(type, { column, check }, importing);
  const required = isRequired(column, type.table) ? '!' : '';
  const readOnly = found.readOnly || isGenerated(column) || undefined;
  const unique = isUnique(type.table, column.name);
  type.fields.push({
    name,
    type: `${found.type}${required}`,
    directives: [
      ...columnDirective(name, column.name, { ...found, readOnly }),
      ...(unique ? ['@unique'] : []),
      ...constraintDirective(found, check),
      ...(readOnly ? [] : defaultDirective(column)),
    ],
    unique,
    ...described(column),
  });
  noteColumn(type, column, importing, {
    status: found.approximated === undefined ? 'kept' : 'approximated',
    as: `${type.name}.${name}`,
    ...(found.approximated !== undefined && { why: found.approximated }),
  });
  noteDefault(type, column, importing);
  return name;
}

function typeOf(
  { name }: TypeInProgress,
  { column, check }: Described,
  importing: Importing,
): FieldType {
  const found =
    importing.catalog.dialect === 'sqlite'
      ? sqliteType(column)
      : postgresType(column, importing.catalog);
  if (found.enum !== undefined)
    return {
      ...found,
      type: found.type.replace('?', importing.enumNames.get(found.enum) ?? 'String'),
    };
  if (found.type !== 'String' || !check?.values) return found;
  const enumName = importing.nameType(
    `${name}${fieldName(column.name).replace(/^./, (first) => first.toUpperCase())}`,
  );
  importing.checked.set(enumName, check.values);
  const { maxLength: _length, ...rest } = found;
  return { ...rest, type: enumName };
}

function columnDirective(
  field: string,
  column: string,
  { column: type, readOnly }: { readonly column?: string; readonly readOnly?: true | undefined },
): string[] {
  const name = snakeCase(field) === column ? undefined : column;
  if (name === undefined && type === undefined && !readOnly) return [];
  return [directive('column', { name, type, readOnly })];
}

const isUnique = ({ uniques, indexes }: CatalogTable, column: string) =>
  uniques.some(({ columns }) => columns.length === 1 && columns[0] === column) ||
  indexes.some(
    ({ unique, columns, where, onExpressions }) =>
      unique && where === null && !onExpressions && columns.length === 1 && columns[0] === column,
  );

function constraintDirective(
  { type, maxLength }: FieldType,
  check: PlainCheck | undefined,
): string[] {
  const { column: _column, values: _values, ...bounds } = check ?? { column: '' };
  const numbers = /^(Int|Float|BigInt)$/.test(type);
  const known = Object.entries({ ...(maxLength !== undefined && { maxLength }), ...bounds }).filter(
    ([name]) => (name.endsWith('Length') ? type === 'String' : numbers),
  );
  return known.length > 0 ? [directive('constraint', Object.fromEntries(known))] : [];
}

/** The directive for a column that the database fills, so that a create may leave it out. */
const defaultDirective = ({ default: value, identity }: CatalogColumn) =>
  value === null && identity === null ? [] : ['@default(expr: DATABASE)'];

function noteDefault(
  { table }: TypeInProgress,
  { name, default: value }: CatalogColumn,
  { items }: Importing,
): void {
  if (value !== null)
    items.push({
      object: `${objectOf(table)}.${name}.default`,
      kind: 'default',
      status: 'kept',
      as: '@default(expr: DATABASE)',
    });
}

/**
 * The checks that the schema can express, by column. The report names the others, which the
 * database goes on checking.
 */
function checksOf(
  { table }: TypeInProgress,
  { items }: Importing,
): ReadonlyMap<string, PlainCheck> {
  const found = new Map<string, PlainCheck>();
  for (const { name, expression } of table.checks) {
    const plain = readCheck(expression);
    const object = `${objectOf(table)}.${name ?? `check (${expression})`}`;
    const known = plain && table.columns.some((column) => column.name === plain.column);
    if (known) found.set(plain.column, { ...found.get(plain.column), ...plain });
    const rest = known
      ? { status: 'kept' as const, as: plain.values ? 'an enum' : '@constraint' }
      : { status: 'notExpressible' as const, why: 'the database goes on checking it' };
    items.push({ object, kind: 'check', ...rest });
  }
  return found;
}

const ON_DELETE: Readonly<Record<string, string>> = { cascade: 'CASCADE', 'set null': 'SET_NULL' };

/** Adds the field of a foreign key. @returns its name. */
function addRelation(type: TypeInProgress, key: CatalogForeignKey, importing: Importing): string {
  const target = importing.types.get(keyOf(key.table))!;
  const [first = ''] = key.columns;
  const isNamed = key.columns.length === 1 && relationName(first) !== 'id';
  const usual = isNamed ? relationName(first) : lowerFirst(target.name);
  const name = type.names(importing.wishes.relationName?.(key) ?? usual);
  type.relations.set(key, name);
  const columns = type.table.columns.filter((column) => key.columns.includes(column.name));
  const single = key.columns.length === 1;
  const unique = single && isUnique(type.table, first);
  const relation = relationDirective(name, key, { importing, unique });
  type.fields.push({
    name,
    type: `${target.name}${columns.every((column) => isRequired(column, type.table)) ? '!' : ''}`,
    directives: [...relation, ...(unique ? ['@unique'] : [])],
    unique: false,
    ...described(columns[0]!),
  });
  const as = `${type.name}.${name}`;
  importing.items.push({ ...foreignKeyItem(type.table, key), status: 'kept', as });
  noteColumn(type, { name: first }, importing, { status: 'kept', as });
  for (const column of columns) noteDefault(type, column, importing);
  return name;
}

function relationDirective(
  field: string,
  { columns, references, onDelete, ...key }: CatalogForeignKey,
  { importing, unique }: { readonly importing: Importing; readonly unique: boolean },
): string[] {
  const [first = ''] = columns;
  const several = columns.length > 1;
  const toKey = refersToKey({ columns, references, onDelete, ...key }, importing.served);
  const target = importing.types.get(keyOf(key.table))!;
  const raw = ON_DELETE[onDelete];
  const given = {
    // Of two ends that show one row each, that with the column holds the key.
    column: several || (!unique && `${snakeCase(field)}_id` === first) ? undefined : first,
    columns: several ? columns : undefined,
    references: toKey
      ? undefined
      : references.map((name) => target.columns.get(name) ?? fieldName(name)),
    onDelete: raw === undefined ? undefined : { raw },
  };
  return Object.values(given).some((value) => value !== undefined)
    ? [directive('relation', given)]
    : [];
}

/** The schema of a table, where the connection would not find it. */
export const schemaOf = (schema: string): string | undefined =>
  isDefaultSchema(schema) ? undefined : schema;
