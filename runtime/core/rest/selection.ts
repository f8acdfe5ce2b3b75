import { isHidden, type RestMember, type TypeRef } from '@twofold/schema';
import { isObjectType, type SelectionNode } from 'graphql';
import { failure } from '../errors.ts';
import { refusal, type Access, type Rules } from '../data/access/access.ts';
import type { EntityModel } from '../data/model.ts';
import { ownResolver } from '../graphql/engine.ts';
import { connectionSelection } from './connections.ts';
import { addedNames, ROWS } from './added-fields.ts';
import type { FieldSelection } from './field-selection.ts';
import { fieldNode, onType } from './operations.ts';
import type { RestService } from './service.ts';

interface SelectionScope {
  readonly service: RestService;
  readonly rules: Rules;
}

/**
 * Turns the `fields` and `include` of a request into the selection of an operation. Fields that the caller
 * may not read are left out, unless the request names them.
 *
 * @throws AppError 400 for an unknown name, 401 or 403 for one that the caller may not read.
 * @example selectionOf({ service, rules }, 'Post', { fields: null, include: new Map() }) // id title body
 */
export function selectionOf(
  selecting: SelectionScope,
  entityName: string,
  { fields, include }: FieldSelection,
): SelectionNode[] {
  const { service } = selecting;
  const entity = service.engine.model.entity(entityName);
  const members = service.members(entityName);
  const embedded = new Map(include);
  for (const name of fields ?? []) {
    const member = members.get(name);
    if (!member) throw failure.badRequest(`fields: ${entityName} has no field ${name}`);
    if (member.kind === 'relation' && !embedded.has(name))
      embedded.set(name, { fields: null, include: new Map() });
  }
  for (const name of embedded.keys())
    if (members.get(name)?.kind !== 'relation')
      throw failure.badRequest(`include: ${entityName} has no relation ${name}`);
  return [...members.values()].flatMap((member) =>
    memberNode(selecting, entity, member, { fields, include: embedded }),
  );
}

function memberNode(
  selecting: SelectionScope,
  entity: EntityModel,
  member: RestMember,
  { fields, include }: FieldSelection,
): SelectionNode[] {
  const { name } = member;
  const inside = include.get(name);
  const named = inside !== undefined || fields?.has(name) === true;
  if (
    !named &&
    (member.kind === 'relation' || (fields && name !== 'id') || !isShown(selecting, entity, member))
  )
    return [];
  const access = accessTo(selecting, entity, member);
  if (access.kind === 'none') return named ? refuse(access) : [];
  return [inside ? relation(selecting, entity, member, inside) : value(selecting, member)];
}

function refuse(access: Extract<Access, { kind: 'none' }>): never {
  throw refusal(access.code);
}

/** Leaves out a resolver that the project has not written yet. */
function isShown(
  { service }: SelectionScope,
  { entity }: EntityModel,
  { kind, name }: RestMember,
): boolean {
  return kind !== 'computed' || ownResolver(service.engine, entity.name, name) !== undefined;
}

/** Whether the caller sees every row of the entity. If not, keys of hidden rows are not shown. */
export function isOpen({ engine }: RestService, rules: Rules, entityName: string): boolean {
  const { entity } = engine.model.entity(entityName);
  return entity.softDelete === undefined && rules.entity(entity, 'READ').kind === 'all';
}

function accessTo(
  { service, rules }: SelectionScope,
  { entity }: EntityModel,
  { kind, field }: RestMember,
): Access {
  const own = rules.field(entity, field, 'READ');
  if (own.kind === 'none' || (kind !== 'relation' && kind !== 'key')) return own;
  const target = targetOf(service, field.type, field.source);
  if (target === undefined) return own;
  const access = rules.entity(service.engine.model.entity(target).entity, 'READ');
  if (access.kind === 'none') return access;
  return kind === 'key' && !isOpen(service, rules, target)
    ? { kind: 'none', code: 'FORBIDDEN' }
    : own;
}

/** The entity on the other side; undefined for a relation to one of several types. */
function targetOf(
  { engine }: RestService,
  type: TypeRef,
  source: RestMember['field']['source'],
): string | undefined {
  if (type.kind === 'interface' || type.kind === 'union') return undefined;
  if (source.kind === 'one' || source.kind === 'many') return source.entity;
  return engine.model.entities.has(type.name) ? type.name : undefined;
}

function value({ service }: SelectionScope, { kind, name, field }: RestMember): SelectionNode {
  if (kind === 'key' || isHidden(field)) return fieldNode(addedNames.key(field.name), { as: name });
  return field.type.kind === 'object'
    ? fieldNode(name, { below: objectSelection(service, field.type.name) })
    : fieldNode(name);
}

const TYPENAME = fieldNode('__typename');

/** Selects objects in JSON columns with all fields, to a limited depth: they may be recursive. */
function objectSelection(service: RestService, typeName: string, levels = 5): SelectionNode[] {
  const type = service.engine.schema.getType(typeName);
  const object = service.engine.model.objects.get(typeName);
  if (!isObjectType(type) || !object) return [TYPENAME];
  const nodes = object.fields.flatMap(({ name, type: inner, args }) => {
    if (args.some((argument) => argument.type.required)) return [];
    if (inner.kind === 'scalar' || inner.kind === 'enum') return [fieldNode(name)];
    return inner.kind === 'object' && levels > 0
      ? [fieldNode(name, { below: objectSelection(service, inner.name, levels - 1) })]
      : [];
  });
  return nodes.length > 0 ? nodes : [TYPENAME];
}

function relation(
  selecting: SelectionScope,
  { entity }: EntityModel,
  { name, field }: RestMember,
  selected: FieldSelection,
): SelectionNode {
  const { service } = selecting;
  const inferred =
    (field.source.kind === 'one' || field.source.kind === 'many') &&
    ownResolver(service.engine, entity.name, name) === undefined;
  if (!inferred && field.args.some(({ type }) => type.required))
    throw failure.badRequest(`include: ${name} cannot be embedded`);
  const target = targetOf(service, field.type, field.source);
  const rows =
    target === undefined
      ? membersSelection(selecting, field.type.name, selected)
      : selectionOf(selecting, target, selected);
  if (inferred) return fieldNode(addedNames.relation(field.name), { as: name, below: rows });
  const connection = field.source.kind === 'many' ? field.source.list.connection : undefined;
  return connection
    ? fieldNode(name, {
        as: `${ROWS}${name}`,
        below: connectionSelection(service.engine.schema, connection, rows),
      })
    : fieldNode(name, { below: rows });
}

/** Selects the fields of each member of an abstract type. */
function membersSelection(
  selecting: SelectionScope,
  abstract: string,
  selected: FieldSelection,
): SelectionNode[] {
  const { model } = selecting.service.engine;
  const members = (model.abstracts.get(abstract)?.members ?? []).filter(
    (member) =>
      model.entities.has(member) &&
      selecting.rules.entity(model.entity(member).entity, 'READ').kind !== 'none',
  );
  return [
    TYPENAME,
    ...members.map((member) => onType(member, selectionOf(selecting, member, selected))),
  ];
}
