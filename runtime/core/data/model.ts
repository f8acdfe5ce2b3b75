import type {
  AbstractType,
  Column,
  Entity,
  Field,
  FilterShape,
  IdKind,
  ObjectType,
  Operation,
  OrderShape,
  Project,
  WriteShape,
} from '@twofold/schema';
import { InternalError } from '../errors.ts';
import type { KeyType, Order } from './plan.ts';

/** The parts of the project by name, so that a request needs no search. */
export interface Model {
  readonly project: Project;
  readonly ids: IdKind;
  readonly entities: ReadonlyMap<string, EntityModel>;
  readonly abstracts: ReadonlyMap<string, AbstractType>;
  readonly objects: ReadonlyMap<string, ObjectType>;
  readonly filters: ReadonlyMap<string, FilterShape>;
  readonly orders: ReadonlyMap<string, OrderShape>;
  readonly writes: ReadonlyMap<string, WriteShape>;
  /** By `Query.posts`. */
  readonly operations: ReadonlyMap<string, Operation>;
  entity(name: string): EntityModel;
}

export interface EntityModel {
  readonly entity: Entity;
  readonly fields: ReadonlyMap<string, Field>;
  readonly columns: ReadonlyMap<string, Column>;
  /** The columns of its key: `id`, or several; none for a view without one. */
  readonly key: readonly string[];
  /**
   * The columns that hold the value of a column: the column itself, or the parts of a composite
   * key.
   */
  partsOf(column: string): readonly string[];
  /** The order by the key, which makes every order total. */
  readonly keyOrder: readonly Order[];
  /** Columns of bytes, which JSON holds as hexadecimal text. */
  readonly bytes: readonly Column[];
  readonly byteLists: readonly Column[];
  /** Whether its ids are global (`Post:7`), because it implements `Node`. */
  readonly global: boolean;
  /** Whether the entity is a member of an interface or union that a field may return. */
  readonly oneOfSeveral: boolean;
  column(name: string): Column;
}

/** The names of the root types in the model, even when the schema names them differently. */
export const ROOT_NAMES = {
  query: 'Query',
  mutation: 'Mutation',
  subscription: 'Subscription',
} as const;

/** @example indexModel(project).entity('Post').column('author_id').type // 'id' */
export function indexModel(project: Project): Model {
  const members = new Set(project.abstracts.flatMap((type) => type.members));
  const binary = new Set(
    project.scalars.filter(({ column }) => column === 'bytes').map(({ name }) => name),
  );
  const entities = new Map(
    project.entities.map((entity) => [
      entity.name,
      entityModel(entity, members.has(entity.name), binary),
    ]),
  );
  return {
    project,
    ids: project.ids,
    entities,
    abstracts: new Map(project.abstracts.map((type) => [type.name, type])),
    objects: new Map(project.objects.map((type) => [type.name, type])),
    filters: new Map(project.filters.map((shape) => [shape.id, shape])),
    orders: new Map(project.orders.map((shape) => [shape.id, shape])),
    writes: new Map(project.writes.map((shape) => [shape.id, shape])),
    operations: new Map(
      project.operations.map((operation) => [
        `${ROOT_NAMES[operation.root]}.${operation.name}`,
        operation,
      ]),
    ),
    entity: (name) => found(entities.get(name), `entity ${name}`),
  };
}

function entityModel(
  entity: Entity,
  oneOfSeveral: boolean,
  binary: ReadonlySet<string>,
): EntityModel {
  const columns = new Map(entity.columns.map((column) => [column.name, column]));
  const partsOf = (column: string) => columns.get(column)?.parts ?? [column];
  const key = columns.has('id') ? partsOf('id') : [];
  return {
    entity,
    key,
    partsOf,
    keyOrder: key.map((column) => ({ column, descending: false })),
    fields: new Map(entity.fields.map((field) => [field.name, field])),
    columns,
    bytes: entity.columns.filter(({ type }) => type === 'bytes'),
    byteLists: entity.columns.filter(({ list, scalar }) => list && binary.has(scalar)),
    global: entity.interfaces.includes('Node'),
    oneOfSeveral,
    column: (name) => found(columns.get(name), `column ${entity.table}.${name}`),
  };
}

/** Returns `value`. @throws InternalError when the model does not have it. */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new InternalError(`the model has no ${what}`);
  return value;
}

/**
 * The name of a column in a row that user code sees: the name of its field. The key of a relation
 * has its column's name in camelCase.
 *
 * @example propertyOf(post, column) // 'createdAt', or 'authorId'
 */
export function propertyOf({ fields }: EntityModel, column: Column): string {
  const field = column.field === undefined ? undefined : fields.get(column.field);
  return field?.source.kind === 'column' ? field.name : camelCase(column.name);
}

/**
 * The field that shows a column: the column's own field, or the relation that uses the column as
 * its key.
 */
export function fieldOfColumn(
  { entity, columns, fields }: EntityModel,
  column: string,
): Field | undefined {
  const name =
    columns.get(column)?.field ??
    entity.fields.find(
      ({ source }) => source.kind === 'one' && source.key === 'own' && source.column === column,
    )?.name;
  return name === undefined ? undefined : fields.get(name);
}

/** The column that names the type of a key in the other table, when `entity` is one of several. */
export function keyType(source: Field['source'], entity: string): KeyType | undefined {
  const column =
    source.kind === 'one' && source.key === 'inverse'
      ? source.typeColumn
      : (source.kind === 'many' || source.kind === 'aggregated') && source.via.kind === 'column'
        ? source.via.typeColumn
        : undefined;
  return column === undefined ? undefined : { column, type: entity };
}

const ENTITY = Symbol('entity');

/** The entity of a row that `decodeRow` made, for fields that may return one of several types. */
export function entityOf(row: unknown): string | undefined {
  return typeof row === 'object' && row !== null
    ? (row as { readonly [ENTITY]?: string })[ENTITY]
    : undefined;
}

/**
 * Turns the JSON of a row into what user code gets: bytes are decoded, and the row knows its type
 * when a field may return several.
 */
export function decodeRow(
  entity: EntityModel,
  row: Record<string, unknown>,
): Record<string, unknown> {
  if (entity.oneOfSeveral) Object.defineProperty(row, ENTITY, { value: entity.entity.name });
  for (const column of entity.bytes) {
    const name = propertyOf(entity, column);
    if (typeof row[name] === 'string') row[name] = Buffer.from(row[name], 'hex');
  }
  for (const column of entity.byteLists) {
    const name = propertyOf(entity, column);
    row[name] = asBuffers(row[name]);
  }
  return row;
}

/** A list of bytes as JSON holds it, `{ type: 'Buffer', data }` for each, as own code gets it. */
export const asBuffers = (list: unknown): unknown =>
  Array.isArray(list) ? list.map((item) => Buffer.from(item)) : list;

const NAMES = new Map<string, string>();

/**
 * The name of a column or a table in the project's own code. Results are cached: a schema has few
 * names, and every row that is read needs those of all its columns.
 *
 * @example camelCase('author_id') // 'authorId'
 */
export function camelCase(name: string): string {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const made = name.replace(/(?!^)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  NAMES.set(name, made);
  return made;
}
