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
import type { KeyType } from './plan.ts';

/** The project's parts by name, so that nothing is searched for on a request. */
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
  /** Its columns of bytes, which JSON has as hexadecimal text. */
  readonly bytes: readonly Column[];
  /** Whether its ids are global, `Post:7`: it implements `Node`. */
  readonly global: boolean;
  /** Whether a field may answer with one of several types, of which it is one. */
  readonly oneOfSeveral: boolean;
  column(name: string): Column;
}

const ROOTS = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

/** @example indexModel(project).entity('Post').column('author_id').type // 'id' */
export function indexModel(project: Project): Model {
  const members = new Set(project.abstracts.flatMap((type) => type.members));
  const entities = new Map(
    project.entities.map((entity) => [entity.name, entityModel(entity, members.has(entity.name))]),
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
        `${ROOTS[operation.root]}.${operation.name}`,
        operation,
      ]),
    ),
    entity: (name) => found(entities.get(name), `entity ${name}`),
  };
}

function entityModel(entity: Entity, oneOfSeveral: boolean): EntityModel {
  const columns = new Map(entity.columns.map((column) => [column.name, column]));
  return {
    entity,
    fields: new Map(entity.fields.map((field) => [field.name, field])),
    columns,
    bytes: entity.columns.filter(({ type }) => type === 'bytes'),
    global: entity.interfaces.includes('Node'),
    oneOfSeveral,
    column: (name) => found(columns.get(name), `column ${entity.table}.${name}`),
  };
}

/** What the model must hold. @throws InternalError when it does not. */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new InternalError(`the model has no ${what}`);
  return value;
}

/**
 * The name a column has in a row that user code sees: its field's, or its own when the field of that name is a relation.
 *
 * @example propertyOf(post, column) // 'createdAt', or 'author_id'
 */
export function propertyOf({ fields }: EntityModel, column: Column): string {
  const field = column.field === undefined ? undefined : fields.get(column.field);
  return field?.source.kind === 'column' ? field.name : column.name;
}

/** The field that shows a column: its own, or the relation that it is the key of. */
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

/** The column that says of which type a key of the other table is, when `entity` is one of several. */
export function keyType(source: Field['source'], entity: string): KeyType | undefined {
  const column =
    source.kind === 'one' && source.key === 'inverse'
      ? source.typeColumn
      : source.kind === 'many' && source.via.kind === 'column'
        ? source.via.typeColumn
        : undefined;
  return column === undefined ? undefined : { column, type: entity };
}

const ENTITY = Symbol('entity');

/** The entity that a row of `decodeRow` is of, for fields that may answer with one of several. */
export function entityOf(row: unknown): string | undefined {
  return typeof row === 'object' && row !== null
    ? (row as { readonly [ENTITY]?: string })[ENTITY]
    : undefined;
}

/** A row as user code gets it, from the JSON that the database wrote: bytes are bytes again, and it knows its type where it could be another. */
export function decodeRow(
  entity: EntityModel,
  row: Record<string, unknown>,
): Record<string, unknown> {
  if (entity.oneOfSeveral) Object.defineProperty(row, ENTITY, { value: entity.entity.name });
  for (const column of entity.bytes) {
    const name = propertyOf(entity, column);
    if (typeof row[name] === 'string') row[name] = Buffer.from(row[name], 'hex');
  }
  return row;
}
