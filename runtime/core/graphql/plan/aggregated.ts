import { getNamedType, isNonNullType, isObjectType, type FieldNode } from 'graphql';
import type { ColumnType, Field } from '@twofold/schema';
import type { EntityModel } from '../../data/model.ts';
import type { AggregatePart, Figure, FigurePart, KeyPart, NumberType } from '../../data/plan.ts';
import { collectFields } from './collect.ts';
import { fieldNameOf, type SelectedField, type Tree } from './planning.ts';

/** Plans the numbers of an aggregate, or of a group, over rows of `entity`. */
export function planFigures(
  tree: Tree,
  entity: EntityModel,
  type: string,
  nodes: readonly FieldNode[],
): readonly AggregatePart[] {
  tree.notes.marks = true;
  return partsOf(tree, type, nodes).flatMap((asked): AggregatePart[] => {
    const name = fieldNameOf(asked.nodes);
    if (name === '__typename') return [{ kind: 'typename', key: asked.key, value: type }];
    if (tree.planning.isCustom(type, name)) return notPlanned(tree);
    if (name === 'count') return [{ kind: 'count', key: asked.key, ...shown(tree, type, name) }];
    const inner = typeOf(tree, type, name);
    if (name === 'key')
      return [
        {
          kind: 'groupKey',
          key: asked.key,
          type: inner,
          fields: planKey(tree, entity, inner, asked.nodes),
        },
      ];
    if (!FIGURES.has(name)) return notPlanned(tree);
    const fields = planFields(tree, entity, inner, asked.nodes);
    return [{ kind: 'figures', key: asked.key, type: inner, of: name as Figure, fields }];
  });
}

const FIGURES = new Set<string>(['countDistinct', 'sum', 'avg', 'min', 'max'] satisfies Figure[]);

const partsOf = ({ planning }: Tree, type: string, nodes: readonly FieldNode[]): SelectedField[] =>
  [...collectFields(planning.selecting, type, nodes)].map(([key, selected]) => ({
    key,
    nodes: selected,
  }));

/** User code answers the field. */
function notPlanned({ notes }: Tree): [] {
  notes.pure = false;
  return [];
}

function planFields(
  tree: Tree,
  entity: EntityModel,
  type: string,
  nodes: readonly FieldNode[],
): FigurePart[] {
  return partsOf(tree, type, nodes).flatMap(({ key, nodes: selected }): FigurePart[] => {
    const name = fieldNameOf(selected);
    if (name === '__typename') return [{ kind: 'typename', key, value: type }];
    const field = entity.fields.get(name);
    const column = field && columnOf(field);
    if (!field || column === undefined || tree.planning.isCustom(type, name))
      return notPlanned(tree);
    const code = refusalOf(tree, entity, field);
    if (code) return [{ kind: 'refused', key, code }];
    return [{ kind: 'figure', key, column, ...shown(tree, type, name) }];
  });
}

function planKey(
  tree: Tree,
  entity: EntityModel,
  type: string,
  nodes: readonly FieldNode[],
): KeyPart[] {
  return partsOf(tree, type, nodes).flatMap(({ key, nodes: selected }): KeyPart[] => {
    const name = fieldNameOf(selected);
    if (name === '__typename')
      return [{ planned: { kind: 'typename', key, value: type }, required: false }];
    const field = entity.fields.get(name);
    const column = field && columnOf(field);
    if (!field || column === undefined || tree.planning.isCustom(type, name))
      return notPlanned(tree);
    const { required } = shown(tree, type, name);
    const planned = planKeyField(tree, entity, field, { key, nodes: selected });
    return [{ planned, ...(planned.kind !== 'refused' && { column }), required }];
  });
}

/** Plans a field of a group's key: a value, or the object of a relation. */
function planKeyField(
  tree: Tree,
  entity: EntityModel,
  field: Field,
  { key, nodes }: SelectedField,
): KeyPart['planned'] {
  const code = refusalOf(tree, entity, field);
  if (code) return { kind: 'refused', key, code };
  const { source } = field;
  if (source.kind !== 'one') return { kind: 'column', key, column: columnOf(field) ?? '' };
  const { column, to } = source;
  return {
    kind: 'one',
    key,
    // Null is possible: rows whose relation leads to no row that the caller may see are a group of
    // their own.
    required: false,
    link: { key: 'own', column, ...(to !== undefined && { to }) },
    selection: tree.selection(source.entity, nodes),
  };
}

const columnOf = ({ source }: Field): string | undefined =>
  source.kind === 'column' || (source.kind === 'one' && source.key === 'own')
    ? source.column
    : undefined;

/**
 * The refusal of a number, if the caller may read its field, or the row that the field refers to,
 * in no row.
 */
function refusalOf(
  { planning: { rules, model }, notes }: Tree,
  entity: EntityModel,
  field: Field,
): 'UNAUTHENTICATED' | 'FORBIDDEN' | undefined {
  const { source } = field;
  const column = columnOf(field);
  const references = column === undefined ? undefined : entity.column(column).references;
  const target = references && model.entities.get(references.entity);
  for (const access of [
    rules.field(entity.entity, field, 'READ'),
    ...(target && source.kind !== 'custom' ? [rules.entity(target.entity, 'READ')] : []),
  ])
    if (access.kind === 'none') {
      notes.pure = false;
      return access.code;
    }
  return undefined;
}

/** The declared type of a number. */
function shown(tree: Tree, type: string, field: string): NumberType {
  const declared = declaredType(tree, type, field);
  const scalar = declared ? getNamedType(declared).name : 'Int';
  if (!tree.planning.isPlain(scalar)) tree.notes.pure = false;
  return { scalar, as: storedType(tree, scalar), required: isNonNullType(declared) };
}

const storedType = ({ planning: { model } }: Tree, scalar: string): ColumnType =>
  model.project.scalars.find(({ name }) => name === scalar)?.column ?? 'text';

/** The name of the type that the schema gives to a member. */
export function typeOf(tree: Tree, type: string, field: string): string {
  const declared = declaredType(tree, type, field);
  return declared ? getNamedType(declared).name : '';
}

function declaredType({ planning: { selecting } }: Tree, type: string, field: string) {
  const object = selecting.schema.getType(type);
  return isObjectType(object) ? object.getFields()[field]?.type : undefined;
}
