import type { Field, ListOptions, Operation } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import { ownersOf, rootAccess, type Access, type Rules } from '../../data/access.ts';
import { found, keyType, type EntityModel, type Model } from '../../data/model.ts';
import type { ConnectionPart, EdgePart, Linked, Member, PageInfoField, Planned, Root, Shape } from '../../data/plan.ts';
import { collectFields, type Selecting } from './collect.ts';

/** What a plan is made from, for one operation and one class of callers. */
export interface Planning {
  readonly model: Model;
  readonly rules: Rules;
  readonly selecting: Selecting;
  /** Whether user code answers the field. */
  isCustom(type: string, field: string): boolean;
  /** Whether values of the scalar go to the wire as the database writes them. */
  isPlain(scalar: string): boolean;
}

/** How the arguments of a node of the plan are read. */
export type CallSource = {
  readonly type: string;
  readonly field: string;
  readonly node: FieldNode;
} & (
  | { readonly read: 'list'; readonly entity: string; readonly list: ListOptions }
  | { readonly read: 'get'; readonly by: readonly { readonly arg: string; readonly column: string }[] }
  | { readonly read: 'node'; readonly arg: string }
  /** Not from arguments: a row that was just written. */
  | { readonly read: 'key' }
);

/** A part of an operation that one statement answers. */
export interface Plan<Node> {
  readonly node: Node;
  readonly calls: readonly CallSource[];
  /** The JSON of the database is the answer's own, to the letter. */
  readonly pure: boolean;
  /** Markers may stand in it, where something must be there and is not, or is not for this caller. */
  readonly marks: boolean;
}

/** Notes taken while a tree is planned. */
interface Notes {
  readonly calls: CallSource[];
  pure: boolean;
  marks: boolean;
  /** Whether an object may be of several types: its text does not tell which. */
  abstract: boolean;
}

/** A root field that reads. @returns the code when the caller may not. */
export function planRead(planning: Planning, operation: Operation, nodes: readonly FieldNode[]): Plan<Root> | Extract<Access, { kind: 'none' }> {
  const notes = newNotes();
  const root = planRoot(planning, operation, nodes, notes);
  return root.kind === 'none' ? root : planOf(root, notes);
}

/** The row of `entity` with a given key: what a mutation or an event answers with. */
export function planByKey(planning: Planning, entity: string, nodes: readonly FieldNode[]): Plan<Root> | Extract<Access, { kind: 'none' }> {
  const access = planning.rules.entity(planning.model.entity(entity).entity, 'READ');
  if (access.kind === 'none') return access;
  const notes = newNotes();
  const node = nodes[0] as FieldNode;
  const call = notes.calls.push({ type: '', field: '', node, read: 'key' }) - 1;
  return planOf({ kind: 'get', entity, call, shape: planShape(planning, entity, nodes, notes) }, notes);
}

/** One field of an object that user code returned. */
export function planField(planning: Planning, entity: string, field: Field, nodes: readonly FieldNode[]): Plan<Planned> {
  const notes = newNotes();
  const node = planEntityField(planning, planning.model.entity(entity), field, nodes[0]?.name.value ?? field.name, nodes, notes);
  return planOf(node, notes);
}

const newNotes = (): Notes => ({ calls: [], pure: true, marks: false, abstract: false });

/** Where a mark stands the executor has to go on, and it has to know what every object is. */
const planOf = <Node>(node: Node, { calls, pure, marks, abstract }: Notes): Plan<Node> => ({ node, calls, pure: pure && !(marks && abstract), marks });

function planRoot(planning: Planning, operation: Operation, nodes: readonly FieldNode[], notes: Notes): Root | Extract<Access, { kind: 'none' }> {
  const { action, name } = operation;
  const own = planning.rules.operation(operation, 'READ');
  if (own.explicit && own.kind === 'none') return own;
  const source = { type: 'Query', field: name, node: nodes[0] as FieldNode };
  switch (action.kind) {
    case 'get': {
      const access = rootAccess(planning.model, planning.rules, own, action.entity, 'READ');
      if (access.kind === 'none') return access;
      const call = notes.calls.push({ ...source, read: 'get', by: action.by }) - 1;
      return { kind: 'get', entity: action.entity, call, shape: planShape(planning, action.entity, nodes, notes), ...ownersOf(own, access) };
    }
    case 'list': {
      const access = rootAccess(planning.model, planning.rules, own, action.entity, 'READ');
      if (access.kind === 'none') return access;
      const call = notes.calls.push({ ...source, read: 'list', entity: action.entity, list: action.list }) - 1;
      const listed = { entity: action.entity, list: action.list, call, ...ownersOf(own, access) };
      if (action.list.connection) return { kind: 'connection', ...listed, ...planConnection(planning, action.entity, action.list, nodes, notes) };
      return { kind: 'list', ...listed, shape: planShape(planning, action.entity, nodes, notes) };
    }
    case 'listAbstract': {
      const members = planMembers(planning, action.type, nodes, notes);
      const first = members[0]?.entity ?? '';
      const call = notes.calls.push({ ...source, read: 'list', entity: first, list: action.list }) - 1;
      return { kind: 'abstractList', type: action.type, list: action.list, call, members };
    }
    case 'node': {
      const call = notes.calls.push({ ...source, read: 'node', arg: action.arg }) - 1;
      return { kind: 'node', call, members: planMembers(planning, 'Node', nodes, notes) };
    }
    default:
      return { kind: 'none', code: 'FORBIDDEN' };
  }
}

function planShape(planning: Planning, entityName: string, nodes: readonly FieldNode[], notes: Notes): Shape {
  const entity = planning.model.entity(entityName);
  const fields: Planned[] = [];
  let row = false;
  for (const [key, selected] of collectFields(planning.selecting, entityName, nodes)) {
    const name = (selected[0] as FieldNode).name.value;
    const field = entity.fields.get(name);
    if (name === '__typename') fields.push({ kind: 'typename', key, value: entityName });
    else if (!field || field.source.kind === 'custom' || planning.isCustom(entityName, name)) row = true;
    else fields.push(planEntityField(planning, entity, field, key, selected, notes));
  }
  if (row) notes.pure = false;
  return { entity: entityName, fields, row };
}

function planEntityField(planning: Planning, entity: EntityModel, field: Field, key: string, nodes: readonly FieldNode[], notes: Notes): Planned {
  const access = planning.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') return refuse(key, access.code, notes);
  const only = access.kind === 'owner' ? { only: access.columns } : {};
  if (access.kind === 'owner') notes.marks = true;
  const { source } = field;
  if (source.kind === 'column') {
    if (field.type.kind === 'object' || !planning.isPlain(field.type.name)) notes.pure = false;
    return { kind: 'column', key, column: source.column, ...only };
  }
  if (source.kind === 'one' && source.key === 'own' && source.typeColumn !== undefined) return { ...planAbstract(planning, field, source.column, source.typeColumn, key, nodes, notes), ...only };
  if (source.kind === 'custom') return refuse(key, 'FORBIDDEN', notes);
  const target = planning.rules.entity(planning.model.entity(source.entity).entity, 'READ');
  if (target.kind === 'none') return refuse(key, target.code, notes);
  const type = keyType(source, entity.entity.name);
  const of = type ? { of: type } : {};
  if (source.kind === 'one') {
    if (field.type.required) notes.marks = true;
    return { kind: 'one', key, required: field.type.required, link: { key: source.key, column: source.column, ...of }, shape: planShape(planning, source.entity, nodes, notes), ...only };
  }
  const call = notes.calls.push({ type: entity.entity.name, field: field.name, node: nodes[0] as FieldNode, read: 'list', entity: source.entity, list: source.list }) - 1;
  const listed = { key, entity: source.entity, link: { ...source.via, ...of }, list: source.list, call, ...only };
  if (source.list.connection) return { kind: 'connection', ...listed, ...planConnection(planning, source.entity, source.list, nodes, notes) };
  return { kind: 'many', ...listed, shape: planShape(planning, source.entity, nodes, notes) };
}

function refuse(key: string, code: 'UNAUTHENTICATED' | 'FORBIDDEN', notes: Notes): Planned {
  notes.pure = false;
  return { kind: 'refused', key, code };
}

function planAbstract(planning: Planning, field: Field, column: string, typeColumn: string, key: string, nodes: readonly FieldNode[], notes: Notes): Planned {
  if (field.type.required) notes.marks = true;
  return { kind: 'abstract', key, required: field.type.required, typeColumn, column, members: planMembers(planning, field.type.name, nodes, notes) };
}

/** The members that the caller may read; rows of the others are not there. */
function planMembers(planning: Planning, type: string, nodes: readonly FieldNode[], notes: Notes): Member[] {
  const { members } = found(planning.model.abstracts.get(type), `interface or union ${type}`);
  notes.abstract = true;
  return members
    .filter((member) => planning.model.entities.has(member))
    .filter((member) => planning.rules.entity(planning.model.entity(member).entity, 'READ').kind !== 'none')
    .map((member) => ({ entity: member, shape: planShape(planning, member, nodes, notes) }));
}

function planConnection(planning: Planning, entity: string, list: ListOptions, nodes: readonly FieldNode[], notes: Notes): Pick<Linked, 'type' | 'fields'> {
  const connection = found(list.connection, 'connection');
  const fields: ConnectionPart[] = [];
  for (const [key, selected] of collectFields(planning.selecting, connection.type, nodes)) {
    const part = planConnectionPart(planning, entity, connection, key, selected, notes);
    if (part) fields.push(part);
    else notes.pure = false;
  }
  return { type: connection.type, fields };
}

function planConnectionPart(planning: Planning, entity: string, connection: NonNullable<ListOptions['connection']>, key: string, nodes: readonly FieldNode[], notes: Notes): ConnectionPart | undefined {
  const name = (nodes[0] as FieldNode).name.value;
  if (name === '__typename') return { kind: 'typename', key, value: connection.type };
  if (planning.isCustom(connection.type, name)) return undefined;
  if (name === 'edges') return { kind: 'edges', key, type: connection.edge ?? '', fields: planEdge(planning, entity, connection.edge ?? '', nodes, notes) };
  if (name === 'pageInfo') return { kind: 'pageInfo', key, fields: planPageInfo(planning, nodes) };
  if (name === connection.nodes) return { kind: 'nodes', key, shape: planShape(planning, entity, nodes, notes) };
  return name === connection.totalCount ? { kind: 'totalCount', key } : undefined;
}

function planEdge(planning: Planning, entity: string, edge: string, nodes: readonly FieldNode[], notes: Notes): EdgePart[] {
  const parts: EdgePart[] = [];
  for (const [key, selected] of collectFields(planning.selecting, edge, nodes)) {
    const name = (selected[0] as FieldNode).name.value;
    if (name === '__typename') parts.push({ kind: 'typename', key, value: edge });
    else if (name === 'node') parts.push({ kind: 'node', key, shape: planShape(planning, entity, selected, notes) });
    else if (name === 'cursor') parts.push({ kind: 'cursor', key });
    else notes.pure = false;
  }
  return parts;
}

function planPageInfo(planning: Planning, nodes: readonly FieldNode[]): { key: string; name: PageInfoField }[] {
  return [...collectFields(planning.selecting, 'PageInfo', nodes)].map(([key, selected]) => ({ key, name: (selected[0] as FieldNode).name.value as PageInfoField }));
}
