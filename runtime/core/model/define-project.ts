import type {
  Action,
  AuthModel,
  AuthRule,
  Column,
  ColumnType,
  Entity,
  Field,
  FieldSource,
  Filter,
  FilterShape,
  ConsoleModel,
  HostingModel,
  Loader,
  ObjectType,
  Operation,
  OrderShape,
  Project,
  ScalarType,
  Write,
  WriteShape,
} from '@twofold/schema';
import { impliedFilter, impliedOrder, impliedWrite, shapesOf } from '@twofold/schema';
import type { FieldTable } from './fields.ts';
import {
  type ColumnWords,
  type EntityWords,
  type FilterField,
  type Model,
  splitOperators,
  type WriteField,
} from './compact.ts';
import type { LoaderWords } from './loaders.ts';
import { readTypes, type SdlTypes } from './types-of-sdl.ts';

/** The generated parts of a project. */
export interface ProjectParts {
  readonly sdl: string;
  readonly model: Model;
  readonly fields: FieldTable;
  readonly loaders?: Readonly<Record<string, LoaderWords<any>>>;
  readonly auth?: AuthModel;
  readonly hosting?: HostingModel;
  readonly console?: ConsoleModel;
}

/**
 * Makes the whole model from its compact form and the SDL.
 *
 * @example
 * defineApp({ project: defineProject({ sdl, model, fields, loaders }), resolvers });
 */
export function defineProject(parts: ProjectParts): Project {
  const { sdl, model, fields, loaders = {} } = parts;
  const types = readTypes(sdl, {
    isEntity: (type) => Object.hasOwn(model.entities, type),
    constraintOf: (coordinate) => model.constraints?.[coordinate],
  });
  const reading: Reading = { model, fields, types };
  const entities = Object.entries(model.entities).map(([name, words]) =>
    readEntity(name, words, reading),
  );
  return {
    name: model.name,
    sdl,
    ids: model.ids,
    ...(model.unmanaged && { unmanaged: true }),
    ...(model.transactionTimeout !== undefined && { transactionTimeout: model.transactionTimeout }),
    ...(model.maxLag !== undefined && { maxLag: model.maxLag }),
    ...(model.isolation && { isolation: model.isolation }),
    ...(model.migrations && { migrations: model.migrations }),
    ...(model.jobs && { jobs: model.jobs }),
    ...(model.observability && { observability: model.observability }),
    entities,
    objects: [
      ...Object.values(types.roots).map((name) => readObject(name, 'root', reading)),
      ...Object.entries(model.objects ?? {}).map(([name, role]) => readObject(name, role, reading)),
    ],
    abstracts: types.abstracts,
    enums: types.enums,
    scalars: readScalars(model),
    operations: readOperations(reading),
    loaders: Object.entries(loaders).map(([name, words]): Loader => ({ name, ...words })),
    writes: shapesOf(model.writes, entities, impliedWrite, readWriteShape),
    ...constraintsOf(model),
    ...errorsOf(model),
    filters: shapesOf(model.filters, entities, impliedFilter, readFilterShape),
    orders: shapesOf(model.orders, entities, impliedOrder, readOrderShape),
    api: model.api,
    server: model.server,
    auth: parts.auth ?? null,
    hosting: parts.hosting ?? null,
    console: parts.console ?? null,
  };
}

/** Coordinates of arguments have parentheses. */
function constraintsOf({ constraints = {} }: Model): Pick<Project, 'constraints'> {
  const found = Object.entries(constraints).filter(([coordinate]) => !coordinate.includes('('));
  return found.length > 0 ? { constraints: Object.fromEntries(found) } : {};
}

function errorsOf({ errors }: Model): Pick<Project, 'errors'> {
  if (!errors) return {};
  const types = Object.entries(errors).flatMap(([type, uses]) =>
    uses.map((words) => ({ type, ...words })),
  );
  return { errors: types };
}

interface Reading {
  readonly model: Model;
  readonly fields: FieldTable;
  readonly types: SdlTypes;
}

const GENERATED = 'generated';
const BUILTIN: readonly ScalarType[] = (
  [
    ['ID', 'id'],
    ['String', 'text'],
    ['Int', 'integer'],
    ['Float', 'real'],
    ['Boolean', 'boolean'],
  ] as const
).map(([name, column]) => ({ name, column, source: 'builtin' }));

function readScalars({ scalars = {} }: Model): ScalarType[] {
  return [...BUILTIN, ...Object.entries(scalars).map(([name, words]) => ({ name, ...words }))];
}

function readEntity(name: string, words: EntityWords, reading: Reading): Entity {
  const { columns: columnWords, indexes = [], ...rest } = words;
  const fields = reading.types.fieldsOf(name);
  const columns = Object.entries(columnWords).map(([column, each]) =>
    readColumn(column, each, { entity: name, reading }),
  );
  return {
    name,
    ...rest,
    fields: fields.map((node) => readField(node, { entity: name, columns, reading })),
    columns,
    indexes,
    rules: rulesOf(name, reading),
    interfaces: reading.types.interfacesOf(name),
  };
}

function readColumn(
  name: string,
  words: ColumnWords,
  { entity, reading }: { entity: string; reading: Reading },
): Column {
  const { type: stored, ...rest } = typeof words === 'string' ? { type: words } : words;
  const field = rest.field ?? (isAnswered(entity, name, reading) ? undefined : name);
  const node = reading.types.fieldsOf(entity).find((each) => each.name.value === field);
  const type = stored.replace(/!$/, '') as ColumnType;
  const ref = node && reading.types.typeRef(node.type);
  const scalar = rest.scalar ?? ref?.name ?? (type === 'id' ? 'ID' : 'String');
  const list = rest.list ?? ref?.list ?? false;
  const values =
    rest.values ??
    (list ? undefined : reading.types.enums.find((each) => each.name === scalar)?.values);
  return {
    ...rest,
    name,
    ...(node && { field: node.name.value }),
    type,
    required: stored.endsWith('!'),
    unique: rest.unique ?? false,
    ...(values && { values }),
    scalar,
    list,
    ...defaultOf(name, rest, reading),
  };
}

/** The default of a key. Without one of its own, `ids` decides it. */
function defaultOf(
  column: string,
  { default: given, parts, key }: Partial<Column>,
  { model }: Reading,
): Pick<Column, 'default'> {
  if (given) return { default: given };
  return column === 'id' && !parts && key !== 'text'
    ? { default: { kind: model.ids === 'integer' ? 'autoincrement' : 'uuid' } }
    : {};
}

function isAnswered(type: string, field: string, { fields }: Reading): boolean {
  return Object.hasOwn(fields, type) && Object.hasOwn(fields[type]!, field);
}

type FieldNode = ReturnType<SdlTypes['fieldsOf']>[number];

function readField(
  node: FieldNode,
  { entity, columns, reading }: { entity: string; columns: readonly Column[]; reading: Reading },
): Field {
  const name = node.name.value;
  const column = columns.find((each) => each.field === name);
  const answered = isAnswered(entity, name, reading)
    ? (reading.fields[entity]![name] as FieldSource)
    : undefined;
  return {
    name,
    type: reading.types.typeRef(node.type),
    args: reading.types.arguments(entity, node),
    source: answered ?? (column ? { kind: 'column', column: column.name } : { kind: 'custom' }),
    rules: rulesOf(`${entity}.${name}`, reading),
    decidedBy: GENERATED,
  };
}

function rulesOf(coordinate: string, { model }: Reading): readonly AuthRule[] {
  return model.access?.[coordinate] ?? [];
}

function readObject(name: string, role: ObjectType['role'], { types }: Reading): ObjectType {
  return {
    name,
    role,
    fields: types.fieldsOf(name).map((node) => ({
      name: node.name.value,
      type: types.typeRef(node.type),
      args: types.arguments(name, node),
    })),
  };
}

function readOperations(reading: Reading): Operation[] {
  const { types, fields } = reading;
  return (['query', 'mutation', 'subscription'] as const).flatMap((root) => {
    const type = types.roots[root];
    if (type === undefined) return [];
    return types.fieldsOf(type).map((node): Operation => {
      const name = node.name.value;
      const action = isAnswered(type, name, reading)
        ? (fields[type]![name] as Action)
        : ({ kind: 'custom' } as const);
      return {
        root,
        name,
        args: types.arguments(type, node),
        type: types.typeRef(node.type),
        action,
        rules: rulesOf(`${type}.${name}`, reading),
        decidedBy: GENERATED,
      };
    });
  });
}

function readOrderShape(
  id: string,
  { entity, ...form }: { readonly entity: string } & OrderShape['form'],
): OrderShape {
  return { id, entity, form: form as OrderShape['form'] };
}

function readWriteShape(id: string, fields: Readonly<Record<string, WriteField>>): WriteShape {
  return {
    id,
    entity: id.slice(id.lastIndexOf(':') + 1),
    writes: Object.entries(fields).map(([name, words]) => readWrite(name, words)),
  };
}

function readWrite(name: string, words: WriteField): Write {
  if (words === null) return { kind: 'ignored', name };
  if (typeof words === 'string') return { kind: 'column', name, column: words };
  if ('ignored' in words) return { kind: 'ignored', name, constraint: words.constraint };
  if ('column' in words) return { kind: 'column', name, ...words };
  if ('key' in words) return { kind: 'key', name, field: words.key };
  if ('keys' in words) {
    const { keys: field, ...limits } = words;
    return { kind: 'keys', name, field, ...limits };
  }
  const { nested, ...rest } = words;
  return { kind: 'nested', name, field: nested, ...rest };
}

function readFilterShape(
  id: string,
  { entity, fields }: Exclude<NonNullable<Model['filters']>[string], string>,
): FilterShape {
  return {
    id,
    entity,
    filters: Object.entries(fields).map(([name, words]) => readFilter(name, words)),
  };
}

function readFilter(name: string, words: FilterField): Filter {
  if (typeof words === 'string') return { kind: 'operators', name, ...splitOperators(words) };
  if ('equals' in words) return { kind: 'equals', name, column: words.equals };
  if ('group' in words) return { kind: words.group, name };
  if ('tally' in words) {
    const { tally: field, ...rest } = words;
    return { kind: 'tally', name, field, ...rest };
  }
  if ('one' in words) return { kind: 'one', name, field: words.one, shape: words.shape };
  if ('object' in words) return { kind: 'object', name, column: words.object, shape: words.shape };
  const { many: field, ...rest } = words;
  return { kind: 'many', name, field, ...rest };
}
