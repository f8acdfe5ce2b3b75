import type { Field, ListOptions, Operation } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import { type Access, replacing, rootAccess, type RootAccess } from '../../data/access/access.ts';
import type { Planned, Root } from '../../data/plan.ts';
import { planFigures } from './aggregated.ts';
import { planConnection } from './connection.ts';
import { rowOf } from './own-parent.ts';
import { planEntityField, planMembers, readableMembers, startTree } from './object.ts';
import { fieldNameOf, numberOf, type Plan, type Planning, planOf, type Tree } from './planning.ts';

type Refused = Extract<Access, { kind: 'none' }>;

/**
 * Plans a root field that reads.
 *
 * @returns the refusal when the caller may not read it.
 * @example planRead(planning, operation, [node]).node.kind // 'list'
 */
export function planRead(
  planning: Planning,
  operation: Operation,
  nodes: readonly FieldNode[],
): Plan<Root> | Refused {
  const tree = startTree(planning);
  const own = planning.rules.operation(operation, 'READ');
  if (own.explicit && own.kind === 'none') return own;
  const root = planRoot(tree, operation, own, nodes);
  return root.kind === 'none' ? root : planOf(root, tree);
}

/**
 * Plans the row of `entity` with a given key, as mutations and events answer it.
 *
 * @param of `many`: the rows of several keys; `whole`: all columns, for a function of the project.
 */
export function planByKey(
  planning: Planning,
  entity: string,
  nodes: readonly FieldNode[],
  { many = false, whole = false } = {},
): Plan<Root> | Refused {
  const access = planning.rules.entity(planning.model.entity(entity).entity, 'READ');
  if (access.kind === 'none') return access;
  const tree = startTree(planning);
  const call = numberOf(tree, { type: '', field: '', node: nodes[0] as FieldNode, read: 'key' });
  const selection = whole ? rowOf(entity) : tree.selection(entity, nodes);
  return many
    ? planOf({ kind: 'list', entity, list: BY_KEYS, call, selection }, tree)
    : planOf({ kind: 'get', entity, call, selection }, tree);
}

/** The options of a list that is read by keys alone. The keys limit its rows. */
const BY_KEYS: ListOptions = {
  filters: [],
  paging: { default: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  order: [{ column: 'id', descending: false }],
};

/** Plans one field of an object that user code returned. */
export function planField(
  planning: Planning,
  entity: string,
  field: Field,
  nodes: readonly FieldNode[],
): Plan<Planned> {
  const tree = startTree(planning);
  return planOf(
    planEntityField(tree, planning.model.entity(entity), field, { key: fieldNameOf(nodes), nodes }),
    tree,
  );
}

function planRoot(
  tree: Tree,
  operation: Operation,
  own: RootAccess,
  nodes: readonly FieldNode[],
): Root | Refused {
  const { action } = operation;
  const source = sourceOf(operation, nodes);
  switch (action.kind) {
    case 'get':
    case 'caller':
    case 'list':
      return planEntity(tree, { ...operation, action }, own, nodes);
    case 'aggregated':
      return planAggregated(tree, operation, own, nodes);
    case 'listAbstract': {
      const [entity = '', ...others] = readableMembers(tree, action.type);
      const list = { entity, list: action.list, members: [entity, ...others] };
      const call = numberOf(tree, { ...source, read: 'list', ...list });
      const members = planMembers(tree, action.type, nodes, call);
      return { kind: 'abstractList', type: action.type, list: action.list, call, members };
    }
    case 'node':
    case 'nodes':
      return {
        kind: action.kind,
        call: numberOf(tree, { ...source, read: action.kind, arg: action.arg }),
        members: planMembers(tree, 'Node', nodes),
      };
    default:
      return { kind: 'none', code: 'FORBIDDEN' };
  }
}

const sourceOf = ({ name }: Operation, nodes: readonly FieldNode[]) => ({
  type: 'Query' as const,
  field: name,
  node: nodes[0] as FieldNode,
});

type RowsAction = Extract<Operation['action'], { kind: 'get' | 'caller' | 'list' }>;

/** One row, or a list of rows, of an entity that the caller may read. */
function planEntity(
  tree: Tree,
  operation: Operation & { readonly action: RowsAction },
  own: RootAccess,
  nodes: readonly FieldNode[],
): Root | Refused {
  const { action } = operation;
  const { entity } = action;
  const { model, rules } = tree.planning;
  const access = rootAccess(model, rules, own, entity, 'READ');
  if (access.kind === 'none') return access;
  const replaced = replacing(own, access);
  const source = sourceOf(operation, nodes);
  if (action.kind !== 'list') {
    const read =
      action.kind === 'get'
        ? ({ ...source, read: 'get', by: action.by } as const)
        : ({ ...source, read: 'key' } as const);
    const call = numberOf(tree, read);
    return { kind: 'get', entity, call, selection: tree.selection(entity, nodes), ...replaced };
  }
  const { list } = action;
  const call = numberOf(tree, { ...source, read: 'list', entity, list });
  const listed = { entity, list, call, ...replaced };
  return list.connection
    ? { kind: 'connection', ...listed, ...planConnection(tree, listed, nodes) }
    : { kind: 'list', ...listed, selection: tree.selection(entity, nodes, call) };
}

/** Numbers over the rows of an entity, or over groups of them. */
function planAggregated(
  tree: Tree,
  { action, name, type }: Operation,
  own: RootAccess,
  nodes: readonly FieldNode[],
): Root | Refused {
  if (action.kind !== 'aggregated') return { kind: 'none', code: 'FORBIDDEN' };
  const { model, rules } = tree.planning;
  const { entity, list, groups } = action;
  const access = rootAccess(model, rules, own, entity, 'READ');
  if (access.kind === 'none') return access;
  const source = { type: 'Query', field: name, node: nodes[0] as FieldNode };
  return {
    kind: 'aggregated',
    type: type.name,
    entity,
    grouped: groups !== undefined,
    list,
    call: numberOf(tree, { ...source, read: 'list', entity, list, ...(groups && { groups }) }),
    fields: planFigures(tree, model.entity(entity), type.name, nodes),
    ...replacing(own, access),
  };
}
