import { getNamedType, isCompositeType, isObjectType } from 'graphql';
import type { GraphQLObjectType, GraphQLOutputType } from 'graphql';
import type { Built } from '../build/built.ts';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import { ownerColumns } from '../build/unset-columns.ts';
import type { Column } from '../model.ts';
import { singularize } from '../names.ts';
import { block, type CrudItem } from './item.ts';
import { isKnown, keptBySignIn } from './stored-fields.ts';

/**
 * `CreatePostInput`; undefined if no row can be created from an input.
 *
 * @example createInput(built, post)?.text // 'input CreatePostInput {\n  title: String! …'
 */
export function createInput(built: Built, entity: EntityFact): CrudItem | undefined {
  return isCreatable(built, entity) ? inputItem(built, entity, true) : undefined;
}

/** `UpdatePostInput`, if the type has anything to change. */
export const updateInput = (built: Built, entity: EntityFact): CrudItem | undefined =>
  isReadOnly(entity) ? undefined : inputItem(built, entity, false);

/** Views and rows without a key are only read. */
export const isReadOnly = ({ directives, key }: EntityFact): boolean =>
  directives.table?.view === true || key?.length === 0;

function inputItem(built: Built, entity: EntityFact, creating: boolean): CrudItem | undefined {
  const lines = inputLines(built, entity, creating);
  const name = `${creating ? 'Create' : 'Update'}${entity.name}Input`;
  return lines.length === 0
    ? undefined
    : { name, keyword: 'input', of: entity, text: block('input', name, lines) };
}

/**
 * A row with a required reference to one of several types cannot be created from keys alone, and
 * users are created by registration.
 */
function isCreatable(built: Built, entity: EntityFact): boolean {
  const keys = built.links.keys.get(entity.name) ?? [];
  const registers = [...keptBySignIn(built, entity)].some(({ type }) => type.required);
  const isUnset = keys.some((key) => key.typeColumn !== undefined && key.required);
  return !isReadOnly(entity) && !registers && !isUnset;
}

function inputLines(built: Built, entity: EntityFact, creating: boolean): string[] {
  const kept = keptBySignIn(built, entity);
  return [...entity.fields.values()]
    .filter((field) => !kept.has(field) && isKnown(built, field))
    .filter(({ name }) => creating || !isKeyField(entity, name))
    .flatMap((field) => inputLine(built, entity, field, creating) ?? []);
}

const isKeyField = ({ key }: EntityFact, name: string): boolean =>
  name === 'id' || key?.includes(name) === true;

function inputLine(
  built: Built,
  entity: EntityFact,
  field: FieldFact,
  creating: boolean,
): string | undefined {
  const link = built.links.byField.get(field);
  const columns = built.shapes.columns.get(entity.name) ?? [];
  if (link?.kind === 'own')
    return link.key.typeColumn || entity.fields.has(`${field.name}Id`)
      ? undefined
      : keyLine(built, entity, field, creating);
  if (link)
    return field.type.list && link.kind === 'join' && !link.managed
      ? `${singularize(field.name)}Ids: [ID!]`
      : undefined;
  const column = columns.find((candidate) => candidate.field === field.name);
  if (!column || !isWritten(entity, column, creating)) return undefined;
  const type = inputType(built, field.field.type)?.replace(/!$/, '');
  return type && `${field.name}: ${type}${creating && isDemanded(column) ? '!' : ''}`;
}

/** Whether an input sets the field. A key that the database or the server makes is in no input. */
const isWritten = ({ key }: EntityFact, column: Column, creating: boolean) => {
  const { name, parts, stamp, readOnly, version, default: made } = column;
  const kept = stamp ?? readOnly ?? parts ?? (creating && version);
  return !kept && (name !== 'id' || (!key && made === undefined));
};

/** Under an OWNER rule the new row belongs to the caller, unless the input names another owner. */
function keyLine(
  { shapes, links }: Built,
  entity: EntityFact,
  field: FieldFact,
  creating: boolean,
): string | undefined {
  const link = links.byField.get(field);
  const name = link?.kind === 'own' ? link.key.column : '';
  const column = shapes.columns.get(entity.name)?.find((each) => each.name === name);
  if (!column || column.readOnly) return undefined;
  const owned = ownerColumns(shapes, entity).has(name);
  return `${field.name}Id: ID${creating && isDemanded(column) && !owned ? '!' : ''}`;
}

const isDemanded = (column: Column): boolean => column.required && column.default === undefined;

/** A type as an input; undefined if its values cannot be given as one. */
function inputType({ facts }: Built, type: GraphQLOutputType): string | undefined {
  const named = getNamedType(type);
  const isValue = facts.types.get(named.name)?.role === 'value';
  if (isCompositeType(named) && !isValue) return undefined;
  return isObjectType(named)
    ? String(type).replace(named.name, valueInputName(named))
    : String(type);
}

const valueInputName = ({ name }: GraphQLObjectType): string => `${name}Input`;

/** `AddressInput` for an object without `id`: GraphQL does not take object types as inputs. */
export function valueInput(built: Built, type: GraphQLObjectType): CrudItem | undefined {
  const lines = Object.values(type.getFields()).flatMap((field) => {
    const text = inputType(built, field.type);
    return text === undefined ? [] : [`${field.name}: ${text}`];
  });
  const name = valueInputName(type);
  return lines.length === 0
    ? undefined
    : {
        name,
        keyword: 'input',
        of: { name: type.name, node: type.astNode?.name },
        text: block('input', name, lines),
      };
}
