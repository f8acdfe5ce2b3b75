import {
  AliasNode,
  IdentifierNode,
  ListNode,
  SelectQueryNode,
  TableNode,
  type DeleteQueryNode,
  type InsertQueryNode,
  type MergeQueryNode,
  type OperationNode,
  type SelectionNode,
  type UpdateQueryNode,
  type WithNode,
} from 'kysely';
import { findExpression, nameOf, plain, schemaOf, type Scope, type Source } from './lookup.ts';
import { expandSelections, outputsOf } from './selections.ts';
import type { NamedColumn, NamedTables } from './named-tables.ts';

export type QueryNode =
  | SelectQueryNode
  | InsertQueryNode
  | UpdateQueryNode
  | DeleteQueryNode
  | MergeQueryNode;

/** The scope of a query. `outer` is the scope of the query that contains it. */
export function scopeOf(tables: NamedTables, node: QueryNode, outer: Scope | undefined): Scope {
  const around = withExpressions(tables, node.with, outer);
  const sources = itemsOf(node).flatMap((item) => sourceOf(tables, item, around));
  const [target] = sources;
  const proposed =
    node.kind === 'InsertQueryNode' && target
      ? [{ ...target, as: 'excluded', emitted: 'excluded' }]
      : [];
  return { ...around, sources: [...sources, ...proposed] };
}

function withExpressions(
  tables: NamedTables,
  node: WithNode | undefined,
  outer: Scope | undefined,
): Scope {
  const expressions = new Map<string, readonly NamedColumn[] | undefined>();
  const scope: Scope = { sources: [], expressions, outer };
  for (const { name, expression } of node?.expressions ?? []) {
    const columns = name.columns?.map(({ column }) => plain(column.name));
    expressions.set(nameOf(name.table), columns ?? columnsOf(tables, expression, scope));
  }
  return scope;
}

/** The columns of the result of a query; undefined when they are not known. */
function columnsOf(
  tables: NamedTables,
  node: OperationNode,
  outer: Scope | undefined,
): readonly NamedColumn[] | undefined {
  const selections = selectionsOf(node);
  if (!selections) return undefined;
  const scope = scopeOf(tables, node as QueryNode, outer);
  return outputsOf(expandSelections(selections, scope), scope);
}

/** The selections of a query, or the returned columns of a write. */
export function selectionsOf(node: OperationNode): readonly SelectionNode[] | undefined {
  if (SelectQueryNode.is(node)) return node.selections;
  return (node as InsertQueryNode).returning?.selections;
}

function itemsOf(node: QueryNode): readonly OperationNode[] {
  switch (node.kind) {
    case 'SelectQueryNode':
      return [...(node.from?.froms ?? []), ...joined(node.joins)];
    case 'InsertQueryNode':
      return node.into ? [node.into] : [];
    case 'UpdateQueryNode':
      return [
        ...(node.table ? listed(node.table) : []),
        ...(node.from?.froms ?? []),
        ...joined(node.joins),
      ];
    case 'DeleteQueryNode':
      return [...node.from.froms, ...(node.using?.tables ?? []), ...joined(node.joins)];
    case 'MergeQueryNode':
      return [node.into, ...joined(node.using && [node.using])];
  }
}

const listed = (node: OperationNode): readonly OperationNode[] =>
  ListNode.is(node) ? node.items : [node];

const joined = (joins: readonly { readonly table: OperationNode }[] = []) =>
  joins.map(({ table }) => table);

function sourceOf(tables: NamedTables, item: OperationNode, scope: Scope): Source[] {
  if (TableNode.is(item)) return [tableSource(tables, item, scope)];
  if (!AliasNode.is(item) || !IdentifierNode.is(item.alias)) return [];
  const as = item.alias.name;
  const columns = TableNode.is(item.node)
    ? tableSource(tables, item.node, scope).columns
    : columnsOf(tables, item.node, scope);
  return [{ as, emitted: as, columns }];
}

function tableSource(tables: NamedTables, node: TableNode, scope: Scope): Source {
  const as = nameOf(node);
  const expression = findExpression(scope, as);
  if (expression) return { as, emitted: as, columns: expression.columns };
  const known = tables.find(as, schemaOf(node));
  return { as, emitted: known?.table ?? as, columns: known?.columns };
}
