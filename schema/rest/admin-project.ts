import { Kind, parse } from 'graphql';
import type { Column, Entity, Field, Operation, Project, Write, WriteShape } from '../model.ts';
import { camelCase, singularize } from '../names.ts';
import { createAdminInputs, type AdminInputs } from './admin-inputs.ts';
import { restMembers, type RestMember } from './members.ts';

/** The largest page of `/api/data`. */
const PAGE_LIMIT = 200;

/**
 * A project whose root fields list, get, create, update and remove rows of every entity, whatever
 * the schema of the user offers. The rules of the schema stay in it: whether they hold depends on
 * the caller.
 *
 * @example restModules(adminProject(project)).length === project.entities.length // true
 */
export function adminProject(project: Project): Project {
  const prefix = freePrefix(project.sdl);
  const inputs = createAdminInputs(project, prefix);
  const entities = project.entities.map(withHiddenColumns);
  const parts = entities.map((entity) => moduleOf({ project, entity, prefix, inputs }));
  const mutations = parts.flatMap(({ lines }) => lines);
  return {
    ...project,
    sdl: [project.sdl, ...inputs.definitions(), mutationType(project.sdl, mutations)].join('\n'),
    entities,
    operations: [
      ...project.operations.filter(({ action }) => action.kind === 'subscribe'),
      ...parts.flatMap(({ operations }) => operations),
    ],
    writes: [...project.writes, ...parts.flatMap(({ writes }) => writes)],
  };
}

function freePrefix(sdl: string): string {
  let prefix = 'admin_';
  while (sdl.includes(prefix)) prefix += '_';
  return prefix;
}

function mutationType(sdl: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const { definitions } = parse(sdl, { noLocation: true });
  const roots = definitions.flatMap((node) =>
    node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION
      ? (node.operationTypes ?? [])
      : [],
  );
  const root = roots.find(({ operation }) => operation === 'mutation')?.type.name.value;
  const body = `{ ${lines.join('\n')} }`;
  if (root !== undefined) return `extend type ${root} ${body}`;
  if (definitions.some((node) => 'name' in node && node.name?.value === 'Mutation'))
    return `extend type Mutation ${body}`;
  return `type Mutation ${body}${roots.length > 0 ? '\nextend schema { mutation: Mutation }' : ''}`;
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

function fieldOf({ name, scalar, required }: Column): Field {
  return {
    name: camelCase(name),
    args: [],
    rules: [],
    decidedBy: 'admin',
    source: { kind: 'column', column: name },
    type: {
      name: scalar,
      kind: 'scalar',
      text: scalar,
      required,
      list: false,
      itemRequired: false,
    },
  };
}

interface Making {
  readonly project: Project;
  readonly entity: Entity;
  readonly prefix: string;
  readonly inputs: AdminInputs;
}

interface Module {
  readonly operations: readonly Operation[];
  readonly writes: readonly WriteShape[];
  /** The fields of `Mutation` as SDL. */
  readonly lines: readonly string[];
}

function moduleOf(making: Making): Module {
  const { entity } = making;
  const reads = readsOf(making);
  if (entity.view) return { operations: reads, writes: [], lines: [] };
  const written = [createOf(making), updateOf(making), removeOf(making)].filter(
    (each) => each !== undefined,
  );
  return {
    operations: [...reads, ...written.map(({ operation }) => operation)],
    writes: written.flatMap(({ write }) => write ?? []),
    lines: written.map(({ line }) => line),
  };
}

function readsOf({ entity, prefix }: Making): Operation[] {
  const keyed = entity.columns.some(({ name }) => name === 'id');
  const list: Operation = {
    ...operation('query', `${prefix}list_${entity.plural}`, entity),
    action: {
      kind: 'list',
      entity: entity.name,
      list: {
        filters: [],
        paging: { limit: 'limit', offset: 'offset', default: 20, max: PAGE_LIMIT },
        ...(entity.search && { search: 'search' }),
        order: keyed ? [{ column: 'id', descending: false }] : [],
      },
    },
  };
  if (!keyed) return [list];
  const by = [{ arg: 'id', column: 'id' }];
  const get: Operation = {
    ...operation('query', `${prefix}get_${entity.name}`, entity),
    action: { kind: 'get', entity: entity.name, by, unique: true },
  };
  return [list, get];
}

interface Written {
  readonly operation: Operation;
  readonly write?: WriteShape;
  readonly line: string;
}

const INPUT = 'input';

/**
 * The create of an entity. Users have none, because the sign-in flows make them and set columns
 * without a default.
 */
function createOf(making: Making): Written | undefined {
  const { project, entity, prefix, inputs } = making;
  const kept = keptBySignIn(project, entity);
  if (entity.columns.some((column) => kept.has(column.name) && isDemanded(column)))
    return undefined;
  const type = inputs.add(`${entity.name}Create`, inputLines(making, true));
  if (type === undefined) return undefined;
  const write = shapeOf(making, type, true);
  const name = `${prefix}create_${entity.name}`;
  return {
    write,
    line: `${name}(${INPUT}: ${type}!): ${entity.name}`,
    operation: {
      ...operation('mutation', name, entity),
      action: {
        kind: 'create',
        entity: entity.name,
        write: write.id,
        input: INPUT,
        returns: { kind: 'entity' },
      },
    },
  };
}

function updateOf(making: Making): Written | undefined {
  const { entity, prefix, inputs } = making;
  const type = inputs.add(`${entity.name}Update`, inputLines(making, false));
  if (type === undefined) return undefined;
  const write = shapeOf(making, type, false);
  const name = `${prefix}update_${entity.name}`;
  return {
    write,
    line: `${name}(id: ID!, ${INPUT}: ${type}!): ${entity.name}`,
    operation: {
      ...operation('mutation', name, entity),
      action: {
        kind: 'update',
        entity: entity.name,
        id: ['id'],
        write: write.id,
        input: INPUT,
        returns: { kind: 'entity' },
      },
    },
  };
}

function removeOf({ entity, prefix }: Making): Written {
  const name = `${prefix}remove_${entity.name}`;
  return {
    line: `${name}(id: ID!): Boolean`,
    operation: {
      ...operation('mutation', name, entity),
      action: { kind: 'remove', entity: entity.name, id: ['id'], returns: { kind: 'boolean' } },
    },
  };
}

const operation = (
  root: Operation['root'],
  name: string,
  entity: Entity,
): Omit<Operation, 'action'> => ({
  root,
  name,
  args: [],
  type: {
    name: entity.name,
    kind: 'entity',
    text: entity.name,
    required: false,
    list: false,
    itemRequired: false,
  },
  rules: [],
  decidedBy: 'admin',
});

/** What a member of an input writes, and its line of SDL. */
interface Slot {
  readonly write: Write;
  readonly type: string;
  readonly required: boolean;
}

const inputLines = (making: Making, creating: boolean): string[] =>
  slotsOf(making, creating).map(
    ({ write, type, required }) => `${write.name}: ${type}${creating && required ? '!' : ''}`,
  );

const shapeOf = (making: Making, type: string, creating: boolean): WriteShape => ({
  id: `${type}:${making.entity.name}`,
  entity: making.entity.name,
  writes: slotsOf(making, creating).map(({ write }) => write),
});

function slotsOf(making: Making, creating: boolean): Slot[] {
  const { project, entity } = making;
  const kept = keptBySignIn(project, entity);
  const keys = new Set(entity.columns.find(({ name }) => name === 'id')?.parts);
  const members = restMembers(entity);
  const isOpen = ({ column }: RestMember) =>
    column === undefined || (!kept.has(column.name) && (creating || !keys.has(column.name)));
  return [...members.values()]
    .filter(isOpen)
    .flatMap((member) => slotOf(making, member, creating) ?? [])
    .filter(({ write }, at, all) => all.findIndex((each) => each.write.name === write.name) === at);
}

function slotOf({ inputs }: Making, member: RestMember, creating: boolean): Slot | undefined {
  const { kind, name, field, column } = member;
  if (kind === 'relation') return setOf(field);
  if (!column || column.stamp || column.readOnly || column.parts) return undefined;
  if (kind === 'key')
    return {
      write: { kind: 'key', name, field: field.name },
      type: 'ID',
      required: isDemanded(column),
    };
  if (kind !== 'value' || (column.name === 'id' && (!creating || column.default !== undefined)))
    return undefined;
  const type = inputs.typeOf(field.type);
  const { constraint } = column;
  return type === undefined
    ? undefined
    : {
        write: { kind: 'column', name, column: column.name, ...(constraint && { constraint }) },
        type,
        required: isDemanded(column),
      };
}

/** The keys of a list that a join table holds: `tagIds`. */
function setOf({ name, source }: Field): Slot | undefined {
  if (source.kind !== 'many' || source.via.kind !== 'table' || source.via.managed) return undefined;
  return {
    write: { kind: 'keys', name: `${singularize(name)}Ids`, field: name },
    type: '[ID!]',
    required: false,
  };
}

const isDemanded = ({ required, default: given, stamp }: Column): boolean =>
  required && given === undefined && stamp === undefined;

const NONE: ReadonlySet<string> = new Set();

/** The columns that users sign in with: only the endpoints of auth write them. */
export function keptBySignIn({ auth }: Project, { name }: Entity): ReadonlySet<string> {
  return auth?.user.entity === name ? new Set(auth.user.identity) : NONE;
}
