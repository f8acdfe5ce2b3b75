import type { Field } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import { found, keyType, type EntityModel } from '../../data/model.ts';
import type { Member, Planned, Selection } from '../../data/plan.ts';
import { planFigures } from './aggregated.ts';
import { collectFields } from './collect.ts';
import { planConnection } from './connection.ts';
import {
  fieldNameOf,
  newNotes,
  numberOf,
  type Planning,
  type SelectedField,
  type Tree,
} from './planning.ts';

export function startTree(planning: Planning): Tree {
  const tree: Tree = {
    planning,
    notes: newNotes(),
    selection: (entity, nodes, call) => planSelection(tree, entity, { nodes, call }),
  };
  return tree;
}

function planSelection(
  tree: Tree,
  entityName: string,
  { nodes, call }: Omit<SelectedField, 'key'>,
): Selection {
  const { model, selecting, isCustom } = tree.planning;
  const entity = model.entity(entityName);
  const fields: Planned[] = [];
  let row = false;
  for (const [key, selected] of collectFields(selecting, entityName, nodes)) {
    const name = fieldNameOf(selected);
    const field = entity.fields.get(name);
    if (name === '__typename') fields.push({ kind: 'typename', key, value: entityName });
    else if (!field || field.source.kind === 'custom' || isCustom(entityName, name)) row = true;
    else fields.push(planEntityField(tree, entity, field, { key, nodes: selected, call }));
  }
  if (row) tree.notes.pure = false;
  return { entity: entityName, fields, row };
}

/** Plans a field with the caller's access: its value, its value in some rows only, or a refusal. */
export function planEntityField(
  tree: Tree,
  entity: EntityModel,
  field: Field,
  asked: SelectedField,
): Planned {
  const access = tree.planning.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') return refuse(tree, asked.key, access.code);
  const planned = planSource(tree, entity, field, asked);
  if (access.kind !== 'rows' || planned.kind === 'refused' || planned.kind === 'typename')
    return planned;
  tree.notes.marks = true;
  return { ...planned, only: access.conditions };
}

function planSource(tree: Tree, entity: EntityModel, field: Field, asked: SelectedField): Planned {
  const { source } = field;
  switch (source.kind) {
    case 'column':
      if (field.type.kind === 'object' || !tree.planning.isPlain(field.type.name))
        tree.notes.pure = false;
      return { kind: 'column', key: asked.key, column: source.column };
    case 'one':
      if (source.key === 'own' && source.typeColumn !== undefined)
        return planAbstract(tree, field, {
          ...asked,
          column: source.column,
          typeColumn: source.typeColumn,
        });
      return planRelated(tree, entity, field, asked);
    case 'many':
      return planRelated(tree, entity, field, asked);
    case 'tally':
      return {
        kind: 'tally',
        key: asked.key,
        tally: source,
        relation: found(entity.fields.get(source.relation), `field ${source.relation}`),
      };
    case 'aggregated':
      return planAggregated(tree, entity, field, asked);
    case 'search':
      return source.of === 'rank'
        ? { kind: 'rank', key: asked.key, call: asked.call ?? NO_LIST }
        : {
            kind: 'highlight',
            key: asked.key,
            call: asked.call ?? NO_LIST,
            column: source.column,
          };
    case 'custom':
      return refuse(tree, asked.key, 'FORBIDDEN');
  }
}

/** For an object outside of lists, which has no search. */
const NO_LIST = -1;

function refuse({ notes }: Tree, key: string, code: 'UNAUTHENTICATED' | 'FORBIDDEN'): Planned {
  notes.pure = false;
  return { kind: 'refused', key, code };
}

/** Plans one or several rows of another entity, if the caller may see any of them. */
function planRelated(tree: Tree, entity: EntityModel, field: Field, asked: SelectedField): Planned {
  const { source } = field;
  if (source.kind !== 'one' && source.kind !== 'many') return refuse(tree, asked.key, 'FORBIDDEN');
  const { rules, model } = tree.planning;
  const target = rules.entity(model.entity(source.entity).entity, 'READ');
  if (target.kind === 'none') return refuse(tree, asked.key, target.code);
  const type = keyType(source, entity.entity.name);
  return source.kind === 'one'
    ? planOne(tree, field, source, { ...asked, ...(type && { of: type }) })
    : planMany(tree, entity, field, { ...asked, ...(type && { of: type }) });
}

type Linked = SelectedField & { readonly of?: NonNullable<ReturnType<typeof keyType>> };

function planOne(
  tree: Tree,
  field: Field,
  source: Extract<Field['source'], { kind: 'one' }>,
  { key, nodes, of }: Linked,
): Planned {
  const { required } = field.type;
  if (required) tree.notes.marks = true;
  return {
    kind: 'one',
    key,
    required,
    link: {
      key: source.key,
      column: source.column,
      ...(source.to !== undefined && { to: source.to }),
      ...(of && { of }),
    },
    selection: tree.selection(source.entity, nodes),
  };
}

function planMany(
  tree: Tree,
  { entity }: EntityModel,
  { name, source }: Field,
  { key, nodes, of }: Linked,
): Planned {
  if (source.kind !== 'many') return refuse(tree, key, 'FORBIDDEN');
  const { list, via } = source;
  const call = numberOf(tree, {
    type: entity.name,
    field: name,
    node: nodes[0] as FieldNode,
    read: 'list',
    entity: source.entity,
    list,
  });
  const listed = { key, entity: source.entity, link: { ...via, ...(of && { of }) }, list, call };
  return list.connection
    ? { kind: 'connection', ...listed, ...planConnection(tree, listed, nodes) }
    : { kind: 'many', ...listed, selection: tree.selection(source.entity, nodes, call) };
}

function planAggregated(
  tree: Tree,
  { entity }: EntityModel,
  { name, source, type }: Field,
  { key, nodes }: SelectedField,
): Planned {
  if (source.kind !== 'aggregated') return refuse(tree, key, 'FORBIDDEN');
  const { rules, model } = tree.planning;
  const target = model.entity(source.entity);
  const access = rules.entity(target.entity, 'READ');
  if (access.kind === 'none') return refuse(tree, key, access.code);
  const { list, via, groups } = source;
  const node = nodes[0] as FieldNode;
  const read = { read: 'list', entity: source.entity, list, ...(groups && { groups }) } as const;
  const of = keyType(source, entity.name);
  return {
    kind: 'aggregated',
    key,
    type: type.name,
    entity: source.entity,
    grouped: groups !== undefined,
    link: { ...via, ...(of && { of }) },
    list,
    call: numberOf(tree, { type: entity.name, field: name, node, ...read }),
    fields: planFigures(tree, target, type.name, nodes),
  };
}

function planAbstract(
  tree: Tree,
  { type }: Field,
  {
    key,
    nodes,
    column,
    typeColumn,
  }: SelectedField & { readonly column: string; readonly typeColumn: string },
): Planned {
  if (type.required) tree.notes.marks = true;
  return {
    kind: 'abstract',
    key,
    required: type.required,
    typeColumn,
    column,
    members: planMembers(tree, type.name, nodes),
  };
}

/** The members of an interface or union that the caller may read; rows of others are left out. */
export function planMembers(
  tree: Tree,
  type: string,
  nodes: readonly FieldNode[],
  call?: number,
): Member[] {
  tree.notes.abstract = true;
  return readableMembers(tree, type).map((member) => ({
    entity: member,
    selection: tree.selection(member, nodes, call),
  }));
}

export function readableMembers({ planning: { model, rules } }: Tree, type: string): string[] {
  return found(model.abstracts.get(type), `interface or union ${type}`).members.filter(
    (member) =>
      model.entities.has(member) &&
      rules.entity(model.entity(member).entity, 'READ').kind !== 'none',
  );
}
