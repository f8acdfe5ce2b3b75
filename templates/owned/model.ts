import {
  createMemory,
  impliedFilter,
  impliedOrder,
  impliedWrite,
  type AuthRule,
  type Column,
  type Constraint,
  type Entity,
  type Filter,
  type FilterShape,
  type Project,
  type Write,
} from '@twofold/schema';
import { isSame, literal, Tall, type LiteralValue } from '../literal.ts';
import { code, file, HEADER, type Code } from '../code.ts';
import { durationCall, settings } from '../settings.ts';
import { rootNames } from './type-names.ts';

/** `src/generated/model.ts`: tables, inputs and access rules, by name. */
export function renderModel(project: Project): string {
  return file(
    HEADER,
    code`
      /** The parts of the model that are not in the SDL: tables, inputs and access rules. */
      export const model = ${literal(compactModel(project), { open: true })} satisfies ${modelType()};
    `,
  );
}

function modelType(): Code {
  return {
    text: 'Model',
    imports: [{ from: '@twofold/runtime', name: 'Model', as: 'Model', typeOnly: true }],
  };
}

function compactModel(project: Project): LiteralValue {
  const scalars = project.scalars.filter((scalar) => scalar.source !== 'builtin');
  return {
    name: project.name,
    ids: project.ids,
    unmanaged: project.unmanaged,
    ...(project.transactionTimeout !== undefined && {
      transactionTimeout: durationCall(project.transactionTimeout),
    }),
    maxLag: project.maxLag,
    isolation: project.isolation,
    ...(project.migrations && {
      migrations: {
        lockTimeout: durationCall(project.migrations.lockTimeout),
        onlineFrom: project.migrations.onlineFrom,
      },
    }),
    ...(project.jobs && { jobs: settings('jobs', project.jobs) }),
    ...(project.observability && {
      observability: settings('observability', project.observability),
    }),
    entities: new Tall(
      byName(project.entities, (entity) =>
        printed(entity, [project.ids, project.enums], () => member(compactEntity(entity, project))),
      ),
    ),
    objects: unlessEmpty(
      byName(
        project.objects.filter(({ role }) => role !== 'root'),
        ({ role }) => role,
      ),
    ),
    scalars: unlessEmpty(byName(scalars, ({ column, source }) => ({ column, source }))),
    writes: byId(project.writes, (shape) =>
      isImplied(shape, project, impliedWrite)
        ? shape.entity
        : printed(shape, [], () => member(merge(shape.writes.map(compactWrite)))),
    ),
    filters: byId(project.filters, (shape) =>
      isImplied(shape, project, impliedFilter)
        ? shape.entity
        : printed(shape, [], () => member(compactFilter(shape))),
    ),
    orders: byId(project.orders, (shape) =>
      isImplied(shape, project, impliedOrder)
        ? shape.entity
        : ({ entity: shape.entity, ...shape.form } as unknown as LiteralValue),
    ),
    errors: unlessEmpty(errorTable(project)),
    access: unlessEmpty(accessTable(project)),
    constraints: unlessEmpty(constraintTable(project)),
    api: settings('api', project.api),
    server: settings('server', project.server),
  };
}

/** Whether the server makes the shape from its entity alone. */
function isImplied<Shape extends { readonly id: string; readonly entity: string }>(
  shape: Shape,
  { entities }: Project,
  implied: (id: string, entity: Entity) => Shape,
): boolean {
  const entity = entities.find(({ name }) => name === shape.entity);
  return entity !== undefined && isSame(shape, implied(shape.id, entity));
}

/** The shapes of inputs, each under its id. */
const byId = <Shape extends { readonly id: string }>(
  shapes: readonly Shape[],
  print: (shape: Shape) => LiteralValue,
) =>
  unlessEmpty(
    Object.fromEntries(
      sorted(shapes, ({ id }) => id).map((shape) => [shape.id, print(shape)] as const),
    ),
  );

const printed = createMemory<object, Code>();

/** One member of a table in the emitted model, with its indent. */
function member(value: LiteralValue): Code {
  return literal(value, { indent: 4 });
}

/**
 * The entity without what `defineProject` derives from the SDL, from `access` or from the columns.
 */
function compactEntity(entity: Entity, project: Project): LiteralValue {
  const {
    name: _name,
    description: _text,
    renamedFrom: _from,
    fields: _fields,
    rules: _rules,
    interfaces: _interfaces,
    columns,
    indexes,
    ...rest
  } = entity;
  return new Tall({
    ...(rest as unknown as Record<string, LiteralValue>),
    columns: new Tall(
      Object.fromEntries(
        columns.map((column) => [column.name, compactColumn(column, { entity, project })]),
      ),
    ),
    indexes: indexes.length > 0 ? (indexes as unknown as LiteralValue) : undefined,
  });
}

/** The default of key columns, which follows from `ids` for all tables. */
const KEY_DEFAULT = { integer: 'autoincrement', uuid: 'uuid' } as const;

/** The column without what `defineProject` derives from the SDL. */
function compactColumn(
  column: Column,
  { entity, project }: { entity: Entity; project: Project },
): LiteralValue {
  const { name: _name, type: _type, required: _required, renamedFrom: _from, ...known } = column;
  const field = entity.fields.find((each) => each.name === column.field);
  const scalar = field?.type.name ?? (column.type === 'id' ? 'ID' : 'String');
  const namesake = entity.fields.find((each) => each.name === column.name);
  const impliedField = namesake?.source.kind === 'column' ? column.name : undefined;
  const words = {
    ...known,
    field: column.field === impliedField ? undefined : column.field,
    scalar: column.scalar === scalar ? undefined : column.scalar,
    list: column.list === (field?.type.list ?? false) ? undefined : column.list,
    values: same(column.values, impliedValues(column, project)) ? undefined : column.values,
    unique: column.unique || undefined,
    default: isKeyDefault(column, project) ? undefined : column.default,
  };
  const type = column.required ? `${column.type}!` : column.type;
  return Object.values(words).every((word) => word === undefined)
    ? type
    : ({ type, ...words } as unknown as LiteralValue);
}

const impliedValues = ({ list, scalar }: Column, { enums }: Project) =>
  list ? undefined : enums.find(({ name }) => name === scalar)?.values;

const isKeyDefault = (column: Column, { ids }: Project): boolean =>
  column.name === 'id' && column.default?.kind === KEY_DEFAULT[ids];

function compactWrite(write: Write): readonly [string, LiteralValue] {
  switch (write.kind) {
    case 'column':
      return [
        write.name,
        write.constraint
          ? { column: write.column, constraint: write.constraint as unknown as LiteralValue }
          : write.column,
      ];
    case 'key':
      return [write.name, { key: write.field }];
    case 'keys':
      return [
        write.name,
        {
          keys: write.field,
          constraint: write.constraint as unknown as LiteralValue,
        },
      ];
    case 'nested':
      return [
        write.name,
        {
          nested: write.field,
          connect: write.connect,
          disconnect: write.disconnect,
          create: write.create as LiteralValue,
          connectOrCreate: write.connectOrCreate as unknown as LiteralValue,
          set: write.set,
          update: write.update as unknown as LiteralValue,
          delete: write.delete,
          connectBy: write.connectBy as unknown as LiteralValue,
          disconnectBy: write.disconnectBy as unknown as LiteralValue,
          setBy: write.setBy as unknown as LiteralValue,
          deleteBy: write.deleteBy as unknown as LiteralValue,
        },
      ];
    case 'ignored':
      return [
        write.name,
        write.constraint
          ? { ignored: true, constraint: write.constraint as unknown as LiteralValue }
          : null,
      ];
  }
}

function compactFilter({ entity, filters }: FilterShape): LiteralValue {
  return {
    entity,
    fields: merge(filters.map((filter) => [filter.name, filterWords(filter)] as const)),
  };
}

function filterWords(filter: Filter): LiteralValue {
  switch (filter.kind) {
    case 'operators':
      return `${filter.column}: ${filter.operators.join(' ')}`;
    case 'equals':
      return { equals: filter.column };
    case 'tally':
      return { tally: filter.field, operators: filter.operators };
    case 'one':
      return { one: filter.field, shape: filter.shape };
    case 'many':
      return {
        many: filter.field,
        quantifiers: filter.quantifiers,
        shape: filter.shape,
        count: filter.count,
        groups: filter.groups,
      };
    case 'object':
      return { object: filter.column, shape: filter.shape };
    default:
      return { group: filter.kind };
  }
}

/** All access rules of the project, by schema coordinate. */
function accessTable(project: Project): { [coordinate: string]: LiteralValue } {
  const rows: [string, readonly AuthRule[]][] = [];
  const roots = rootNames(project);
  for (const entity of project.entities) {
    rows.push([entity.name, entity.rules]);
    for (const field of entity.fields) rows.push([`${entity.name}.${field.name}`, field.rules]);
  }
  for (const operation of project.operations)
    rows.push([`${roots[operation.root]}.${operation.name}`, operation.rules]);
  return Object.fromEntries(
    sorted(
      rows.filter(([, rules]) => rules.length > 0),
      ([coordinate]) => coordinate,
    ).map(([at, rules]) => [at, rules as unknown as LiteralValue]),
  );
}

function errorTable({ errors = [] }: Project): { [type: string]: LiteralValue } {
  const byType = Map.groupBy(errors, ({ type }) => type);
  return Object.fromEntries(
    [...byType].map(([type, uses]) => [type, uses.map(({ type: _type, ...words }) => words)]),
  );
}

function constraintTable(project: Project): { [coordinate: string]: LiteralValue } {
  const rows: [string, Constraint][] = [];
  const roots = rootNames(project);
  const add = (
    field: string,
    args: readonly { readonly name: string; readonly constraint?: Constraint }[],
  ) =>
    args.forEach((arg) => arg.constraint && rows.push([`${field}(${arg.name}:)`, arg.constraint]));
  for (const entity of project.entities)
    for (const field of entity.fields) add(`${entity.name}.${field.name}`, field.args);
  for (const operation of project.operations)
    add(`${roots[operation.root]}.${operation.name}`, operation.args);
  rows.push(...Object.entries(project.constraints ?? {}));
  return Object.fromEntries(sorted(rows, ([coordinate]) => coordinate)) as unknown as {
    [coordinate: string]: LiteralValue;
  };
}

function byName<T extends { readonly name: string }>(
  items: readonly T[],
  words: (item: T) => LiteralValue,
): { [name: string]: LiteralValue } {
  return Object.fromEntries(
    sorted(items, (item) => item.name).map((item) => [item.name, words(item)]),
  );
}

/** Sorted by name, so that two branches that each add an item change different lines. */
export function sorted<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return [...items].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}

function merge(entries: readonly (readonly [string, LiteralValue])[]): LiteralValue {
  return Object.fromEntries(entries);
}

function unlessEmpty(value: { [key: string]: LiteralValue }): LiteralValue {
  return Object.keys(value).length > 0 ? new Tall(value) : undefined;
}

function same(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return (
    a === b ||
    (a !== undefined &&
      b !== undefined &&
      a.length === b.length &&
      a.every((each, at) => each === b[at]))
  );
}
