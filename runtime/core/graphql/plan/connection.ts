import type { ListOptions } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import { found } from '../../data/model.ts';
import type { ConnectionPart, EdgePart, Linked, PageInfoField } from '../../data/plan.ts';
import { planFigures, typeOf } from './aggregated.ts';
import { collectFields } from './collect.ts';
import { connectionParent, edgeParent } from './own-parent.ts';
import { fieldNameOf, type SelectedField, type Tree } from './planning.ts';

type Connection = NonNullable<ListOptions['connection']>;

/** The rows of a connection, and the number of its call. */
interface Listed {
  readonly entity: string;
  readonly list: ListOptions;
  readonly call: number;
}

/** Plans the selected parts of a Relay connection over rows of `entity`. */
export function planConnection(
  tree: Tree,
  { entity, list, call }: Listed,
  nodes: readonly FieldNode[],
): Pick<Linked, 'type' | 'fields'> {
  const connection = found(list.connection, 'connection');
  const fields: ConnectionPart[] = [];
  let own = false;
  for (const [key, selected] of collectFields(tree.planning.selecting, connection.type, nodes)) {
    const part = planPart(tree, { entity, call }, connection, { key, nodes: selected });
    if (part) fields.push(part);
    else tree.notes.pure = false;
    own ||= tree.planning.isCustom(connection.type, fieldNameOf(selected));
  }
  if (own) fields.push(...connectionParent(entity, connection));
  return { type: connection.type, fields };
}

/** @returns undefined for a field that user code answers. */
function planPart(
  tree: Tree,
  rows: Omit<Listed, 'list'>,
  connection: Connection,
  { key, nodes }: SelectedField,
): ConnectionPart | undefined {
  const name = fieldNameOf(nodes);
  const edge = connection.edge ?? '';
  if (name === '__typename') return { kind: 'typename', key, value: connection.type };
  if (tree.planning.isCustom(connection.type, name)) return undefined;
  if (name === 'edges')
    return { kind: 'edges', key, type: edge, fields: planEdge(tree, rows, edge, nodes) };
  if (name === 'pageInfo') return { kind: 'pageInfo', key, fields: planPageInfo(tree, nodes) };
  if (name === connection.nodes || connection.lists?.includes(name))
    return { kind: 'nodes', key, selection: tree.selection(rows.entity, nodes, rows.call) };
  if (name === connection.aggregate) {
    const type = typeOf(tree, connection.type, name);
    const fields = planFigures(tree, tree.planning.model.entity(rows.entity), type, nodes);
    return { kind: 'aggregate', key, type, fields };
  }
  return name === connection.totalCount ? { kind: 'totalCount', key } : undefined;
}

function planEdge(
  tree: Tree,
  { entity, call }: Omit<Listed, 'list'>,
  edge: string,
  nodes: readonly FieldNode[],
): EdgePart[] {
  const parts: EdgePart[] = [];
  let own = false;
  for (const [key, selected] of collectFields(tree.planning.selecting, edge, nodes)) {
    const name = fieldNameOf(selected);
    if (name === '__typename') parts.push({ kind: 'typename', key, value: edge });
    else if (tree.planning.isCustom(edge, name)) own = true;
    else if (name === 'node')
      parts.push({ kind: 'node', key, selection: tree.selection(entity, selected, call) });
    else if (name === 'cursor') parts.push({ kind: 'cursor', key });
    else tree.notes.pure = false;
  }
  if (!own) return parts;
  tree.notes.pure = false;
  return [...parts, ...edgeParent(entity)];
}

const planPageInfo = ({ planning }: Tree, nodes: readonly FieldNode[]) =>
  [...collectFields(planning.selecting, 'PageInfo', nodes)].map(([key, selected]) => ({
    key,
    name: fieldNameOf(selected) as PageInfoField,
  }));
