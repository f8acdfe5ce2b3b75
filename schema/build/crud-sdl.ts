import type { Column } from '../model.ts';
import { singularize } from '../names.ts';
import { userEntity } from './user.ts';
import type { EntityFact, FieldFact, Parsed } from './facts.ts';
import { identityFields } from './identity.ts';
import { createInputMirror } from './input-mirror.ts';
import type { InputMirror } from './input-mirror.ts';
import { build } from './project.ts';
import type { Built } from './built.ts';
import { ownerColumns } from './unset-columns.ts';

/** The file name in findings about the added SDL. An emitted project has a file of this name. */
export const CRUD_FILE = 'crud.graphql';

/**
 * The SDL that `api.crud: true` adds: create, update and delete for every entity that has none.
 * Empty when nothing is missing.
 *
 * @example
 * crudSdl(parsed) // 'input CreateUserInput { name: String! } … extend type Mutation { createUser(input: …): User! … }'
 */
export function crudSdl(parsed: Parsed): string {
  const built = build(parsed);
  const mirror = createInputMirror(built.facts);
  const fields: string[] = [];
  const inputs: string[] = [];
  for (const entity of built.facts.entities.values())
    addEntity(built, entity, mirror, fields, inputs);
  if (fields.length === 0) return '';
  const header = '# Made from the types of the schema, because the manifest says api.crud: true.';
  return `${[header, mutationType(built, fields), ...inputs, ...mirror.inputs()].join('\n\n')}\n`;
}

function mutationType({ facts }: Built, fields: readonly string[]): string {
  const name = facts.schema.getMutationType()?.name;
  const body = `{\n${fields.map((field) => `  ${field}`).join('\n')}\n}`;
  if (name !== undefined) return `extend type ${name} ${body}`;
  // If the schema has a schema definition, a type called Mutation is the root type only if that
  // definition names it.
  return `type Mutation ${body}${facts.schema.astNode ? '\n\nextend schema {\n  mutation: Mutation\n}' : ''}`;
}

function addEntity(
  built: Built,
  entity: EntityFact,
  mirror: InputMirror,
  fields: string[],
  inputs: string[],
): void {
  const { name } = entity;
  const create = inputFields(built, entity, mirror, true);
  const update = inputFields(built, entity, mirror, false);
  if (isMissing(built, entity, 'create') && create.length > 0 && isCreatable(built, entity)) {
    fields.push(`create${name}(input: Create${name}Input!): ${name}!`);
    inputs.push(input(`Create${name}Input`, create));
  }
  if (isMissing(built, entity, 'update') && update.length > 0) {
    fields.push(`update${name}(id: ID!, input: Update${name}Input!): ${name}`);
    inputs.push(input(`Update${name}Input`, update));
  }
  if (isMissing(built, entity, 'remove')) fields.push(`delete${name}(id: ID!): Boolean!`);
}

function input(name: string, fields: readonly string[]): string {
  return `input ${name} {\n${fields.map((field) => `  ${field}`).join('\n')}\n}`;
}

const VERB_PREFIXES = { create: 'create', update: 'update', remove: 'delete' } as const;

/** Whether no other field does the operation and its name is free. */
function isMissing(
  { operations, facts }: Built,
  { name }: EntityFact,
  kind: keyof typeof VERB_PREFIXES,
): boolean {
  const done = operations.some(
    ({ operation: { root, name: field, action } }) =>
      root === 'mutation' &&
      ((action.kind === kind && action.entity === name) ||
        field === `${VERB_PREFIXES[kind]}${name}`),
  );
  const word = `${VERB_PREFIXES[kind].charAt(0).toUpperCase()}${VERB_PREFIXES[kind].slice(1)}`;
  return !done && (kind === 'remove' || facts.schema.getType(`${word}${name}Input`) === undefined);
}

/**
 * A row with a required reference to one of several types cannot be created from keys alone, and
 * users are created by registration.
 */
function isCreatable(built: Built, entity: EntityFact): boolean {
  const keys = built.links.keys.get(entity.name) ?? [];
  const registers = [...keptBySignIn(built, entity)].some(({ type }) => type.required);
  return !registers && !keys.some((key) => key.typeColumn !== undefined && key.required);
}

function inputFields(
  built: Built,
  entity: EntityFact,
  mirror: InputMirror,
  creating: boolean,
): string[] {
  const kept = keptBySignIn(built, entity);
  const fields = [...entity.fields.values()].filter(
    (field) => field.name !== 'id' && !kept.has(field),
  );
  return fields.flatMap((field) => inputField(built, entity, field, mirror, creating) ?? []);
}

/** Fields that only the auth endpoints write. */
function keptBySignIn({ facts }: Built, entity: EntityFact): ReadonlySet<FieldFact> {
  return new Set(userEntity(facts) === entity ? identityFields(entity).keys() : []);
}

function inputField(
  built: Built,
  entity: EntityFact,
  field: FieldFact,
  mirror: InputMirror,
  creating: boolean,
): string | undefined {
  const link = built.links.byField.get(field);
  const columns = built.shapes.columns.get(entity.name) ?? [];
  if (link?.kind === 'own')
    return link.key.typeColumn || entity.fields.has(`${field.name}Id`)
      ? undefined
      : keyField(built, entity, field, link.key.column, creating);
  if (link)
    return field.type.list && link.kind === 'join' && !link.managed
      ? `${singularize(field.name)}Ids: [ID!]`
      : undefined;
  const column = columns.find((candidate) => candidate.field === field.name);
  if (!column || column.stamp) return undefined;
  const type = mirror.typeText(field);
  return type && `${field.name}: ${type}${creating && isDemanded(column) ? '!' : ''}`;
}

/** Under an OWNER rule the new row belongs to the caller, unless the input names another owner. */
function keyField(
  { shapes }: Built,
  entity: EntityFact,
  field: FieldFact,
  name: string,
  creating: boolean,
): string {
  const owned = ownerColumns(shapes, entity).has(name);
  return `${field.name}Id: ID${creating && field.type.required && !owned ? '!' : ''}`;
}

function isDemanded(column: Column): boolean {
  return column.required && column.default === undefined;
}
