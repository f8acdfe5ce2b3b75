import type { ListOptions, Operation } from '@twofold/schema';
import type { Rules } from '../data/access/access.ts';
import { propertyOf, type EntityModel } from '../data/model.ts';
import type { Root } from '../data/plan.ts';
import { versionColumn } from '../data/write/kept-columns.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { createShape, filterShape, orderShape, UNLIMITED, updateShape } from './data-model.ts';
import type { DataParts } from './data-parts.ts';
import { columnMembers, uniqueKeys } from './members.ts';
import { ruledFields } from './rows.ts';

/** The parts that all callers of an entity's data API share. */
export class EntityPlan {
  readonly parts: DataParts;
  readonly entity: EntityModel;
  readonly create: Operation;
  readonly update: Operation;
  readonly remove: Operation;
  readonly upsert: Operation;
  readonly createMany: Operation;
  readonly updateMany: Operation;
  readonly removeMany: Operation;
  readonly list: ListOptions;
  readonly #roots = createBoundedCache<Root>({ entries: 100, bytes: 100 });

  constructor(parts: DataParts, entity: EntityModel) {
    this.parts = parts;
    this.entity = entity;
    const { name } = entity.entity;
    const returns = { kind: 'entity' } as const;
    this.create = operation(name, {
      kind: 'create',
      entity: name,
      write: createShape(name),
      input: 'data',
      returns,
    });
    this.update = operation(name, {
      kind: 'update',
      entity: name,
      id: ['id'],
      write: updateShape(name),
      input: 'data',
      returns,
    });
    const { field: version } = versionColumn(entity) ?? {};
    const read = version === undefined ? {} : { version };
    this.remove = operation(name, { kind: 'remove', entity: name, id: ['id'], ...read, returns });
    this.upsert = operation(name, {
      kind: 'upsert',
      entity: name,
      by: uniqueKeys(entity).map((columns) => keyPaths(entity, columns)),
      create: { write: createShape(name), input: 'create' },
      update: { write: updateShape(name), input: 'update' },
      returns,
    });
    const where = { arg: 'where', shape: filterShape(name) };
    this.createMany = operation(name, {
      kind: 'createMany',
      entity: name,
      write: createShape(name),
      input: 'data',
      skipDuplicates: 'skipDuplicates',
      returns,
    });
    this.updateMany = operation(name, {
      kind: 'updateMany',
      entity: name,
      write: updateShape(name),
      input: 'data',
      where,
      returns,
    });
    this.removeMany = operation(name, { kind: 'removeMany', entity: name, where, returns });
    this.list = {
      filters: [],
      where: { arg: 'where', shape: filterShape(name) },
      orderBy: { arg: 'orderBy', shape: orderShape(name) },
      distinct: { arg: 'distinct', by: distinctColumns(entity) },
      ...(entity.entity.search && { search: 'search' }),
      paging: { limit: 'limit', offset: 'offset', default: UNLIMITED, max: UNLIMITED },
      order: [{ column: 'id', descending: false }],
    };
  }

  /** The plan of a read. Callers of one class share it, and its statements with it. */
  root<Kind extends 'get' | 'list' | 'count'>(
    kind: Kind,
    rules: Rules,
  ): Extract<Root, { kind: Kind }> {
    const key = `${kind} ${rules.callerClass}`;
    const known = this.#roots.get(key);
    if (known) return known as Extract<Root, { kind: Kind }>;
    const { name: entity } = this.entity.entity;
    const selection = { entity, fields: ruledFields(this.entity, rules), row: true };
    const { list } = this;
    const root = {
      get: { kind: 'get', entity, call: 0, selection },
      list: { kind: 'list', entity, list, call: 0, selection },
      count: { kind: 'count', entity, list, call: 0 },
    }[kind] as Extract<Root, { kind: Kind }>;
    this.#roots.set(key, root, 1);
    return root;
  }
}

/**
 * The fields that `distinct` may name. JSON is left out, because the two databases do not order it
 * alike.
 */
const distinctColumns = (entity: EntityModel) =>
  Object.fromEntries(
    columnMembers(entity).flatMap(({ name, column }) =>
      column.type === 'json' ? [] : [[name, column.name]],
    ),
  );

/** The columns of a key by their paths in the arguments. */
const keyPaths = (entity: EntityModel, columns: readonly string[]) =>
  Object.fromEntries(
    columns.map((column) => [`where.${propertyOf(entity, entity.column(column))}`, column]),
  );

const operation = (entity: string, action: Operation['action']): Operation => ({
  root: 'mutation',
  name: entity,
  args: [],
  type: {
    name: entity,
    kind: 'object',
    text: entity,
    required: false,
    list: false,
    itemRequired: false,
  },
  action,
  rules: [],
  decidedBy: 'ctx.data',
});
