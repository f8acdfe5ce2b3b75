import { isAbstractType, isEnumType } from 'graphql';
import type { Column, ColumnDefault, ColumnType, DefaultValue } from '../model.ts';
import { snakeCase } from '../names.ts';
import { enumStorage } from './types.ts';
import { foreignParts, keyParts, type KeyPart, type ForeignKey } from './key-parts.ts';
import { scalarType, type EntityFact, type Facts, type FieldFact } from './facts.ts';
import { userAttributes, userEntity } from './user.ts';
import { keyScalar } from './keys.ts';
import type { Links } from './links.ts';
import { moment } from '../scalars.ts';
import { heldEntity } from './values.ts';

/**
 * The stored type of a field that is a column; undefined for relations and for the user's own
 * functions.
 */
export function storedAs(field: FieldFact, facts: Facts): ColumnType | undefined {
  const { named, type, directives } = field;
  if (directives.computed || directives.count || directives.exists || directives.search)
    return undefined;
  if (field.args.length > 0 && !directives.column) return undefined;
  if (type.kind === 'scalar' || type.kind === 'enum')
    return type.list ? 'json' : scalarType(named, facts);
  const isValue = facts.types.get(named.name)?.role === 'value';
  return isValue && heldEntity(named.name, facts) === undefined ? 'json' : undefined;
}

/**
 * The columns of an entity's table: the key, then the fields in their order, then columns that no
 * field shows.
 *
 * @example
 * buildColumns(post, facts, links).map((column) => column.name) // ['id', 'title', 'author_id']
 */
export function buildColumns(entity: EntityFact, facts: Facts, links: Links): Column[] {
  const columns = new Map<string, Column>(
    entity.key?.length === 0 ? [] : [['id', keyColumn(entity, facts, links)]],
  );
  const keys = links.keys.get(entity.name) ?? [];
  const byField = new Map(keys.flatMap((key) => (key.field ? [[key.field, key]] : [])));
  for (const field of entity.fields.values()) {
    const key = byField.get(field);
    if (key) for (const column of keyColumns(key, facts, links)) addColumn(columns, column);
    else if (field.name !== 'id' || entity.key?.length === 0)
      addColumn(columns, plainColumn(entity, field, facts));
  }
  for (const key of keys)
    if (!key.field) for (const column of keyColumns(key, facts, links)) addColumn(columns, column);
  for (const column of keptColumns(entity))
    if (!columns.has(column.name)) columns.set(column.name, column);
  if (entity.key) markKey(columns, keyParts(entity, facts, links.keys));
  return [...columns.values()];
}

/**
 * Adds a column. `authorId: ID!` beside `author: User!` is the same column, which is exposed twice.
 */
function addColumn(columns: Map<string, Column>, column: Column | undefined): void {
  const present = column && columns.get(column.name);
  if (!column) return;
  if (!present) columns.set(column.name, column);
  else
    columns.set(column.name, {
      ...column,
      ...present,
      ...(column.field && { field: column.field, scalar: column.scalar }),
      ...(column.references && { type: column.type, references: column.references }),
      required: present.required || column.required,
      unique: present.unique || column.unique,
    });
}

/** Marks the columns of a key as required. If the key has one column, it is also unique. */
function markKey(columns: Map<string, Column>, parts: readonly KeyPart[]): void {
  for (const { column: name, key } of parts) {
    const column = columns.get(name);
    if (column)
      columns.set(name, {
        ...column,
        required: true,
        unique: column.unique || parts.length === 1,
        ...(key && { key }),
      });
  }
}

function keyColumn(entity: EntityFact, facts: Facts, links: Links): Column {
  const field = entity.fields.get('id');
  const key = {
    name: 'id',
    ...(field && { field: 'id' }),
    type: 'id',
    required: true,
    unique: false,
    scalar: keyScalar(entity),
    list: false,
  } as const;
  const parts = keyParts(entity, facts, links.keys);
  if (entity.key) return { ...key, parts: parts.map(({ column }) => column) };
  const [{ key: kind, databaseType } = {} as KeyPart] = parts;
  const fallback = field && defaultOf(field);
  const made = fallback ?? madeKey(kind, facts);
  return {
    ...key,
    ...storedName(field),
    ...(kind && { key: kind }),
    ...(databaseType !== undefined && { databaseType }),
    ...(made && { default: made }),
  };
}

/**
 * The default of a new key: the server makes UUIDs, the database whole numbers, and callers texts.
 * In tables that others made, a key with a type and without a default is given by callers.
 */
function madeKey(kind: KeyPart['key'], { manifest }: Facts): ColumnDefault | undefined {
  const { ids, managed } = manifest.values.database;
  if (!managed) return kind === undefined ? { kind: 'database' } : undefined;
  const form = kind ?? ids;
  if (form === 'text') return undefined;
  return { kind: form === 'uuid' ? 'uuid' : 'autoincrement' };
}

/** The name in the database that `@column` gives, where it differs. */
function storedName(field: FieldFact | undefined): Pick<Column, 'stored'> {
  const stored = field?.directives.column?.name;
  const name = field?.name === 'id' ? 'id' : field?.snakeName;
  return stored === undefined || stored === name ? {} : { stored };
}

/** REST shows a foreign key that no field shows. Its scalar is that of the key it refers to. */
function scalarOfKey({ target }: ForeignKey, { entities }: Facts): string {
  const entity = entities.get(target);
  return entity ? keyScalar(entity) : 'ID';
}

/** Whether a relation to the user is the signed-in one unless the input says otherwise. */
export const isByCaller = (facts: Facts, { directives, named }: FieldFact): boolean =>
  directives.default?.expr === 'CALLER' && userEntity(facts)?.name === named.name;

function keyColumns(key: ForeignKey, facts: Facts, links: Links): Column[] {
  const parts = foreignParts(key, facts, links.keys);
  if (parts.length > 1) return compositeColumns(key, parts);
  const [part] = parts;
  const shown = key.field?.type.kind === 'scalar' ? key.field : undefined;
  const field = shown?.name;
  const column: Column = {
    name: key.column,
    ...storedOf(key, key.column),
    ...(field && { field }),
    type: part?.type ?? 'id',
    ...(part?.key && { key: part.key }),
    ...(part?.databaseType !== undefined && { databaseType: part.databaseType }),
    required: key.required,
    unique: key.unique,
    scalar: shown?.named.name ?? scalarOfKey(key, facts),
    list: false,
    ...readOnly(key.field),
    ...(key.field && isByCaller(facts, key.field) && { default: { kind: 'caller' } }),
    ...(!key.typeColumn && { references: referenceOf(key) }),
    ...renamedKey(key, field ? '' : '_id'),
  };
  return key.typeColumn ? [typeColumn(key.typeColumn, key, facts), column] : [column];
}

function renamedKey({ field }: ForeignKey, suffix: string): Pick<Column, 'renamedFrom'> {
  const { renamed, relation } = field?.directives ?? {};
  return renamed && !relation?.column ? { renamedFrom: `${snakeCase(renamed)}${suffix}` } : {};
}

/** The column that says of which type a row is that a key refers to. */
function typeColumn(name: string, { target, required }: ForeignKey, { schema }: Facts): Column {
  const type = schema.getType(target);
  const members = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  return {
    name,
    type: 'text',
    required,
    unique: false,
    values: members.map((member) => member.name),
    scalar: 'String',
    list: false,
  };
}

/** A composite key, and its columns. */
function compositeColumns(key: ForeignKey, parts: readonly KeyPart[]): Column[] {
  const { required, field } = key;
  return [
    {
      name: key.column,
      parts: parts.map(({ column }) => column),
      type: 'id',
      required,
      unique: key.unique,
      scalar: 'ID',
      list: false,
      ...readOnly(field),
      references: referenceOf(key),
    },
    ...parts.map(({ column: name, ...part }): Column => ({
      name,
      ...storedOf(key, name),
      ...part,
      required,
      unique: false,
      list: false,
    })),
  ];
}

function referenceOf({ target, onDelete, references }: ForeignKey) {
  return {
    entity: target,
    onDelete,
    ...(references && { to: uniqueName(references) }),
  };
}

/** The column of the other entity that `@relation(references:)` means. */
export const uniqueName = (fields: readonly string[]): string => fields.map(snakeCase).join('_');

const storedOf = ({ stored }: ForeignKey, name: string): Pick<Column, 'stored'> => {
  const as = stored?.get(name);
  return as === undefined ? {} : { stored: as };
};

const readOnly = (field: FieldFact | undefined): Pick<Column, 'readOnly'> =>
  field?.directives.column?.readOnly ? { readOnly: true } : {};

function plainColumn(entity: EntityFact, field: FieldFact, facts: Facts): Column | undefined {
  const type = storedAs(field, facts);
  if (!type) return undefined;
  const { constraint, renamed } = field.directives;
  const stamp = stampOf(entity, field, type);
  const version = isVersion(field, type);
  const fallback = version ? FIRST_VERSION : defaultOf(field, type);
  return {
    name: field.snakeName,
    ...storedName(field),
    field: field.name,
    type,
    ...ownType(field),
    ...readOnly(field),
    required: field.type.required,
    unique: field.directives.unique || isSignInName(entity, field, facts),
    ...(isEnumType(field.named) &&
      !field.type.list && { values: field.named.getValues().map((value) => value.name) }),
    scalar: field.named.name,
    list: field.type.list,
    ...(fallback && { default: fallback }),
    ...(stamp && { stamp }),
    ...(version && { version: true }),
    ...(constraint && { constraint }),
    ...(renamed && { renamedFrom: snakeCase(renamed) }),
  };
}

/** A column's type in PostgreSQL, and the stored texts of an enum's values. */
function ownType({ named, directives }: FieldFact): Partial<Column> {
  const storage = isEnumType(named) ? enumStorage(named) : {};
  const databaseType = directives.column?.type ?? storage.databaseType;
  return {
    ...(databaseType !== undefined && { databaseType }),
    ...(storage.storedValues && { storedValues: storage.storedValues }),
  };
}

/** Users sign in with this column, so it has to be unique. */
function isSignInName(entity: EntityFact, field: FieldFact, facts: Facts): boolean {
  return userEntity(facts) === entity && userAttributes(entity).get('email') === field;
}

function stampOf(entity: EntityFact, field: FieldFact, type: ColumnType): Column['stamp'] {
  if (type !== 'timestamp' || field.directives.column?.readOnly) return undefined;
  if (field.directives.updatedAt) return 'updated';
  if (entity.directives.entity?.timestamps === false || field.directives.default) return undefined;
  const name = field.snakeName;
  return name === 'created_at' ? 'created' : name === 'updated_at' ? 'updated' : undefined;
}

const FIRST_VERSION: ColumnDefault = { kind: 'value', value: 1 };

const isVersion = ({ type: { required }, directives }: FieldFact, type: ColumnType): boolean =>
  directives.version && type === 'integer' && required && !directives.column?.readOnly;

function defaultOf(field: FieldFact, type: ColumnType = 'id'): ColumnDefault | undefined {
  const written = field.directives.default;
  if (written?.expr !== undefined)
    return { kind: written.expr.toLowerCase() as 'now' | 'uuid' | 'autoincrement' | 'database' };
  const value = written?.value;
  if (value === undefined) return undefined;
  if (isJsonText(field, type, value)) return { kind: 'value', value: parsedJson(value) };
  return type === 'json' || value === null || typeof value !== 'object'
    ? { kind: 'value', value: storedForm(type, value as DefaultValue) }
    : undefined;
}

/** A default is found, compared and sorted as what a client sends, so it has the same form. */
function storedForm(type: ColumnType, value: DefaultValue): DefaultValue {
  if (typeof value !== 'string') return value;
  return type === 'uuid' ? value.toLowerCase() : (moment(type, value) ?? value);
}

/** Whether a default is written as a text of JSON, which keys that are no names in GraphQL need. */
export function isJsonText(field: FieldFact, type: ColumnType, value: unknown): value is string {
  const { kind, list } = field.type;
  const isJson = type === 'json' && kind === 'scalar' && !list;
  return isJson && typeof value === 'string' && /^\s*[[{]/.test(value);
}

function parsedJson(text: string): DefaultValue {
  try {
    return JSON.parse(text) as DefaultValue;
  } catch {
    // DEFAULT_INVALID reports it.
    return null;
  }
}

/** Columns that `@entity(timestamps:, softDelete:)` adds and no field shows. */
function* keptColumns({ directives }: EntityFact): Generator<Column> {
  const time = { type: 'timestamp', unique: false, scalar: 'DateTime', list: false } as const;
  if (directives.entity?.timestamps) {
    yield { name: 'created_at', ...time, required: true, stamp: 'created' };
    yield { name: 'updated_at', ...time, required: true, stamp: 'updated' };
  }
  if (directives.entity?.softDelete) yield { name: 'deleted_at', ...time, required: false };
}
