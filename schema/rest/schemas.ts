import {
  buildSchema,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import type { Entity, Field, ObjectType, Operation, Project, TypeRef } from '../model.ts';
import type { JsonSchema } from '../routes/route.ts';
import { restMembers, type RestMember } from './members.ts';
import { deprecation } from '../sunset.ts';
import { restArguments, restModules, type RestModule } from './modules.ts';
import {
  described,
  inputMemberSchema,
  inputObjectSchema,
  leafSchema,
  nullable,
  reference,
} from './value-schemas.ts';

/**
 * The schemas that the REST routes reference, by name: entities, their objects and enums, and the
 * inputs of bodies.
 *
 * @example
 * restSchemas(project).Post // { type: 'object', required: ['id', 'title'], properties: { … } }
 */
export function restSchemas(
  project: Project,
  schema: GraphQLSchema = buildSchema(project.sdl),
  modules: readonly RestModule[] = restModules(project),
): Record<string, JsonSchema> {
  if (modules.length === 0) return {};
  const entries: [string, JsonSchema][] = [
    ...project.entities.map((entity): [string, JsonSchema] => [
      entity.name,
      entitySchema(project, entity, schema.getType(entity.name)),
    ]),
    ...project.objects.map((object): [string, JsonSchema] => [
      object.name,
      objectSchema(project, object),
    ]),
    ...project.enums.map(({ name, values }): [string, JsonSchema] => [
      name,
      { type: 'string', enum: values },
    ]),
    ...modules.flatMap((module) => bodyInputs(schema, project, module)),
    [paginationName(project), PAGINATION],
    [errorName(project), ERROR],
  ];
  return used(Object.fromEntries(entries), [
    ...modules.map(({ entity }) => entity.name),
    paginationName(project),
    errorName(project),
    ...modules.flatMap((module) =>
      BODIES.flatMap((verb) => referred(restBody(schema, project, module, verb))),
    ),
  ]);
}

const BODIES = ['create', 'update'] as const;

const ERROR: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' } },
};

const PAGINATION: JsonSchema = {
  type: 'object',
  required: ['total', 'page', 'page_size', 'total_pages'],
  properties: Object.fromEntries(
    ['total', 'page', 'page_size', 'total_pages'].map((name) => [name, { type: 'integer' }]),
  ),
};

/** A name for our schema that no user's type has. */
export const paginationName = (project: Project): string => freeName(project, 'Pagination');
export const errorName = (project: Project): string => freeName(project, 'Error');

function freeName(project: Project, name: string): string {
  return new RegExp(`\\b${name}\\b`).test(project.sdl) ? freeName(project, `Rest${name}`) : name;
}

/**
 * Members may be missing: with `fields`, and if the caller may not read them. Only the key is
 * always present.
 */
function entitySchema(
  project: Project,
  entity: Entity,
  type: GraphQLNamedType | undefined,
): JsonSchema {
  const members = [...restMembers(entity).values()];
  const shown = isObjectType(type) ? type.getFields() : undefined;
  return {
    type: 'object',
    ...(type?.description && { description: type.description }),
    required: members.filter((member) => isAlwaysThere(entity, member)).map(({ name }) => name),
    properties: Object.fromEntries(
      members.map((member) => [
        member.name,
        memberSchema(project, member, shown?.[member.field.name]),
      ]),
    ),
  };
}

function isAlwaysThere(_entity: Entity, { name }: RestMember): boolean {
  return name === 'id';
}

/** Descriptions are read from the SDL: an emitted project has them only there. */
function memberSchema(
  project: Project,
  { kind, field, column }: RestMember,
  shown: GraphQLField<unknown, unknown> | undefined,
): JsonSchema {
  if (kind === 'key') {
    const type = column?.scalar === 'Int' ? 'integer' : 'string';
    return column?.required ? { type } : { type: [type, 'null'] };
  }
  const shape =
    kind === 'relation'
      ? described(
          relationSchema(project, field),
          shown?.description ?? 'Embedded when include names it',
        )
      : described(typeSchema(project, field.type), shown?.description);
  return { ...shape, ...deprecation(shown?.deprecationReason) };
}

/** The schema of a field's type in a response. */
function typeSchema(project: Project, type: TypeRef): JsonSchema {
  const item = type.kind === 'object' ? reference(type.name) : leafSchema(project, type.name);
  const value = type.list
    ? { type: 'array', items: type.itemRequired ? item : nullable(item) }
    : item;
  return type.required ? value : nullable(value);
}

/** A row that the caller may not see is null, so a to-one relation is always nullable. */
function relationSchema(project: Project, { source, type }: Field): JsonSchema {
  const item = targetSchema(
    project,
    source.kind === 'one' || source.kind === 'many' ? source.entity : type.name,
    type,
  );
  return source.kind === 'many' || type.list ? { type: 'array', items: item } : nullable(item);
}

function targetSchema(project: Project, entity: string, { kind, name }: TypeRef): JsonSchema {
  if (kind !== 'interface' && kind !== 'union') return reference(kind === 'entity' ? name : entity);
  const members = project.abstracts.find((type) => type.name === name)?.members ?? [];
  return {
    anyOf: members
      .filter((member) => project.entities.some((candidate) => candidate.name === member))
      .map(reference),
  };
}

function objectSchema(project: Project, { fields }: ObjectType): JsonSchema {
  const shown = fields.filter(
    ({ type }) => type.kind !== 'entity' && type.kind !== 'interface' && type.kind !== 'union',
  );
  return {
    type: 'object',
    properties: Object.fromEntries(
      shown.map(({ name, type }) => [name, typeSchema(project, type)]),
    ),
  };
}

/**
 * The body of a create or update: the fields of its input object, or its arguments side by side.
 *
 * @example
 * restBody(schema, project, posts, 'create') // { $ref: '#/components/schemas/CreatePostInput' }
 */
export function restBody(
  schema: GraphQLSchema,
  project: Project,
  module: RestModule,
  verb: 'create' | 'update',
): JsonSchema {
  const action = module[verb]?.action;
  const args = restArguments(schema, module, verb);
  if (!action || !('write' in action)) return { type: 'object' };
  const key = (action.kind === 'update' && action.id) || [];
  if (action.input === undefined)
    return argumentsSchema(
      project,
      args.filter(({ name }) => name !== key[0] && name !== 'clientMutationId'),
    );
  const input = getNamedType(args.find(({ name }) => name === action.input)?.type);
  if (!isInputObjectType(input)) return { type: 'object' };
  const skip = [...(key.length === 2 ? [key[1] as string] : []), 'clientMutationId'].filter(
    (name) => name in input.getFields(),
  );
  const beside = args.filter(({ name }) => action.input !== name && isBeside(action, name));
  if (beside.length > 0)
    return {
      allOf: [inputObjectSchema(project, input, skip), argumentsSchema(project, beside)].map(open),
    };
  return skip.length === 0 ? reference(input.name) : inputObjectSchema(project, input, skip);
}

/** The same object with members of others beside its own. */
const open = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'additionalProperties'));

const isBeside = (action: Operation['action'], name: string): boolean =>
  'beside' in action && action.beside?.includes(name) === true;

function argumentsSchema(project: Project, args: readonly GraphQLArgument[]): JsonSchema {
  const required = args
    .filter(({ type, defaultValue }) => String(type).endsWith('!') && defaultValue === undefined)
    .map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      args.map((argument) => [argument.name, inputMemberSchema(project, argument)]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Every input type that the bodies of a module reference, directly or through others. */
function bodyInputs(
  schema: GraphQLSchema,
  project: Project,
  module: RestModule,
): [string, JsonSchema][] {
  const found = new Map<string, JsonSchema>();
  const visit = ({ type: given }: { readonly type: GraphQLInputType }) => {
    const type = getNamedType(given);
    if (found.has(type.name) || !isInputObjectType(type)) return;
    found.set(type.name, inputObjectSchema(project, type));
    Object.values(type.getFields()).forEach(visit);
  };
  BODIES.flatMap((verb) => restArguments(schema, module, verb)).forEach(visit);
  return [...found];
}

/** Keeps only the schemas that are referenced. */
function used(
  schemas: Record<string, JsonSchema>,
  from: readonly string[],
): Record<string, JsonSchema> {
  const kept = new Set<string>();
  const keep = (name: string) => {
    if (kept.has(name) || !(name in schemas)) return;
    kept.add(name);
    referred(schemas[name]).forEach(keep);
  };
  from.forEach(keep);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => kept.has(name)));
}

const referred = (schema: unknown): string[] =>
  [...JSON.stringify(schema).matchAll(/#\/components\/schemas\/([^"]+)/g)].map(
    (match) => match[1] as string,
  );
