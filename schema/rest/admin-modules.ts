import {
  getNullableType,
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInt,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLSchema,
  isInputType,
  specifiedScalarTypes,
} from 'graphql';
import type { Column, Entity, Field, Operation, Project, TypeRef, Write } from '../model.ts';
import { camelCase, singularize } from '../names.ts';
import { ADMIN_DATA } from '../routes/admin-data.ts';
import { restMembers, type RestMember } from './members.ts';
import { restPath, type RestModule } from './modules.ts';

/** The largest page of `/api/data`. */
const PAGE_LIMIT = 200;

/** A field of a column that the schema does not show has this decision. */
const HIDDEN = 'admin';

/** Whether the schema has no such field: only `/api/data` shows its column. */
export const isHidden = ({ decidedBy }: Field): boolean => decidedBy === HIDDEN;

/**
 * The modules of `/api/data`: every entity with all verbs, whatever the schema of the user offers.
 *
 * @example adminModules(project, schema)[0] // { path: '/api/data/posts', list: …, create: …, writes: [ … ] }
 */
export function adminModules(project: Project, schema: GraphQLSchema): RestModule[] {
  const inputOf = createInputs(project, schema);
  return project.entities.map((given) => moduleOf(project, withHiddenColumns(given), inputOf));
}

/**
 * Adds a field for each column that no field shows, such as the key of a list without an inverse.
 * Columns that mark removed rows or consist of other columns get none.
 */
function withHiddenColumns(entity: Entity): Entity {
  const shown = new Set([...restMembers(entity).values()].map(({ column }) => column?.name));
  const names = new Set(entity.fields.map(({ name }) => name));
  const hidden = entity.columns.filter(
    ({ name, parts, list }) =>
      !shown.has(name) &&
      !parts &&
      !list &&
      name !== entity.softDelete &&
      !names.has(camelCase(name)),
  );
  return { ...entity, fields: [...entity.fields, ...hidden.map(fieldOf)] };
}

const fieldOf = ({ name, scalar, required }: Column): Field => ({
  name: camelCase(name),
  args: [],
  rules: [],
  decidedBy: HIDDEN,
  source: { kind: 'column', column: name },
  type: { ...typeOf(scalar, 'scalar'), required },
});

const typeOf = (name: string, kind: TypeRef['kind']): TypeRef => ({
  name,
  kind,
  text: name,
  required: false,
  list: false,
  itemRequired: false,
});

type InputOf = (type: TypeRef) => GraphQLInputType | undefined;

function moduleOf(project: Project, entity: Entity, inputOf: InputOf): RestModule {
  const path = restPath(entity, ADMIN_DATA);
  const reads = { entity, path, list: listOf(entity), ...getOf(entity) };
  if (entity.view) return reads;
  const create = writeOf(entity, 'create', slotsOf(project, entity, inputOf, true));
  const update = writeOf(entity, 'update', slotsOf(project, entity, inputOf, false));
  const version = entity.columns.find((column) => column.version)?.field;
  const checked = version === undefined ? {} : { version };
  const action = { kind: 'remove', entity: entity.name, id: ['id'], ...checked } as const;
  return {
    ...reads,
    ...(create && !isMadeBySignIn(project, entity) && { create: create.operation }),
    ...(update && { update: update.operation }),
    remove: operation('mutation', entity, { ...action, returns: { kind: 'boolean' } }),
    writes: [create, update].flatMap((written) => written?.shape ?? []),
    args: {
      create: create?.args,
      update: update?.args,
      remove: version === undefined ? undefined : argumentsFor({ [version]: { type: GraphQLInt } }),
    },
  };
}

const operation = (
  root: Operation['root'],
  { name }: Entity,
  action: Operation['action'],
): Operation => ({
  root,
  name: `${action.kind} ${name}`,
  args: [],
  type: typeOf(name, 'entity'),
  rules: [],
  decidedBy: HIDDEN,
  action,
});

const isKeyed = ({ columns }: Entity) => columns.some(({ name }) => name === 'id');

const listOf = (entity: Entity): Operation =>
  operation('query', entity, {
    kind: 'list',
    entity: entity.name,
    list: {
      filters: [],
      paging: { limit: 'limit', offset: 'offset', default: 20, max: PAGE_LIMIT },
      ...(entity.search && { search: 'search' }),
      order: isKeyed(entity) ? [{ column: 'id', descending: false }] : [],
    },
  });

function getOf(entity: Entity): Pick<RestModule, 'get'> {
  const by = [{ arg: 'id', column: 'id' }];
  return isKeyed(entity)
    ? { get: operation('query', entity, { kind: 'get', entity: entity.name, by, unique: true }) }
    : {};
}

/** What a member of a body writes, and its type. */
interface Slot {
  readonly write: Write;
  readonly type: GraphQLInputType;
}

const INPUT = 'input';

/** The operation of a write, its arguments, and what it writes; undefined when that is nothing. */
function writeOf(entity: Entity, kind: 'create' | 'update', slots: readonly Slot[]) {
  if (slots.length === 0) return undefined;
  const { name } = entity;
  const shape = { id: `data ${kind} ${name}`, entity: name, writes: slots.map((s) => s.write) };
  const common = {
    entity: name,
    write: shape.id,
    input: INPUT,
    returns: { kind: 'entity' },
  } as const;
  const fields = Object.fromEntries(slots.map(({ write, type }) => [write.name, { type }]));
  const input = new GraphQLNonNull(inputObject(`Data.${name}.${kind}`, () => fields));
  return kind === 'create'
    ? {
        shape,
        operation: operation('mutation', entity, { kind, ...common }),
        args: argumentsFor({ [INPUT]: { type: input } }),
      }
    : {
        shape,
        operation: operation('mutation', entity, { kind, id: ['id'], ...common }),
        args: argumentsFor({ id: { type: GraphQLID }, [INPUT]: { type: input } }),
      };
}

const argumentsFor = (args: GraphQLFieldConfigArgumentMap) =>
  new GraphQLObjectType({
    name: 'Write',
    fields: { it: { type: GraphQLBoolean, args } },
  }).getFields()['it']?.args;

/** An input with a name that no type of the user's has, as no name in SDL has a dot. */
function inputObject(
  name: string,
  fields: () => Record<string, GraphQLInputFieldConfig>,
): GraphQLInputObjectType {
  const type = new GraphQLInputObjectType({ name: 'Input', fields });
  type.name = name;
  return type;
}

/** The types of inputs. An object without a table gets one too, as only an input may be sent. */
function createInputs({ objects }: Project, schema: GraphQLSchema): InputOf {
  const made = new Map<string, GraphQLInputObjectType>();
  const objectOf = (name: string): GraphQLInputObjectType | undefined => {
    const fields = objects.find((each) => each.role === 'value' && each.name === name)?.fields;
    if (!fields?.some(({ type }) => isSent(type))) return undefined;
    const type =
      made.get(name) ??
      inputObject(`Data.${name}.input`, () =>
        Object.fromEntries(
          fields.flatMap((field) => {
            const inner = inputOf(field.type);
            return inner ? [[field.name, { type: demand(inner, field.type.required) }]] : [];
          }),
        ),
      );
    made.set(name, type);
    return type;
  };
  const inputOf: InputOf = ({ name, kind, list, itemRequired }) => {
    const type =
      kind === 'object'
        ? objectOf(name)
        : (schema.getType(name) ?? specifiedScalarTypes.find((each) => each.name === name));
    if (!isInputType(type)) return undefined;
    return list ? new GraphQLList(demand(type, itemRequired)) : type;
  };
  return inputOf;
}

const isSent = ({ kind }: TypeRef) => kind === 'scalar' || kind === 'enum' || kind === 'object';

const demand = (type: GraphQLInputType, required: boolean): GraphQLInputType =>
  required ? new GraphQLNonNull(getNullableType(type)) : type;

function slotsOf(project: Project, entity: Entity, inputOf: InputOf, creating: boolean): Slot[] {
  const kept = keptBySignIn(project, entity);
  const keys = new Set(entity.columns.find(({ name }) => name === 'id')?.parts);
  const isOpen = ({ column }: RestMember) =>
    column === undefined ||
    (!kept.has(column.name) && !(creating ? column.version : keys.has(column.name)));
  return [...restMembers(entity).values()]
    .filter(isOpen)
    .flatMap((member) => slotOf(member, inputOf, creating) ?? [])
    .filter(({ write }, at, all) => all.findIndex((each) => each.write.name === write.name) === at);
}

function slotOf(
  { kind, name, field, column }: RestMember,
  inputOf: InputOf,
  creating: boolean,
): Slot | undefined {
  if (kind === 'relation') return setOf(field);
  if (!column || column.stamp || column.readOnly || column.parts) return undefined;
  const required = creating && isDemanded(column);
  if (kind === 'key')
    return { write: { kind: 'key', name, field: field.name }, type: demand(GraphQLID, required) };
  if (kind !== 'value' || (column.name === 'id' && (!creating || column.default !== undefined)))
    return undefined;
  const type = inputOf(field.type);
  const { constraint } = column;
  return (
    type && {
      write: { kind: 'column', name, column: column.name, ...(constraint && { constraint }) },
      type: demand(type, required),
    }
  );
}

/** The keys of a list that a join table holds: `tagIds`. */
function setOf({ name, source }: Field): Slot | undefined {
  if (source.kind !== 'many' || source.via.kind !== 'table' || source.via.managed) return undefined;
  return {
    write: { kind: 'keys', name: `${singularize(name)}Ids`, field: name },
    type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
  };
}

const isDemanded = ({ required, default: given, stamp }: Column): boolean =>
  required && given === undefined && stamp === undefined;

/** Only registration makes users, as it alone sets the columns without a default. */
const isMadeBySignIn = (project: Project, entity: Entity): boolean =>
  entity.columns.some(
    (column) => keptBySignIn(project, entity).has(column.name) && isDemanded(column),
  );

const NONE: ReadonlySet<string> = new Set();

/** The columns that users sign in with: only the endpoints of auth write them. */
export function keptBySignIn({ auth }: Project, { name }: Entity): ReadonlySet<string> {
  return auth?.user.entity === name ? new Set(auth.user.identity) : NONE;
}
