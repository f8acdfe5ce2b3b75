import {
  IdentifierNode,
  OperationNodeTransformer,
  ReferenceNode,
  SchemableIdentifierNode,
  SelectAllNode,
  TableNode,
  type ColumnNode,
  type CommonTableExpressionNameNode,
  type DeleteQueryNode,
  type InsertQueryNode,
  type MergeQueryNode,
  type OrderByItemNode,
  type QueryId,
  type RootOperationNode,
  SelectQueryNode,
  type UpdateQueryNode,
  AliasNode,
  ListNode,
  type OperationNode,
  type SelectionNode,
  type WithNode,
} from 'kysely';
import type { NamedColumn, NamedTables } from './named-tables.ts';
import {
  columnIn,
  findColumn,
  findExpression,
  findSource,
  nameOf,
  schemaOf,
  type Scope,
  plain,
  type Source,
} from './lookup.ts';
import { expandSelections, outputsOf } from './selections.ts';

/** A query in the names of the database. */
export interface Translated {
  readonly node: RootOperationNode;
  /** The columns of its result; undefined when they are not known. */
  readonly outputs: readonly NamedColumn[] | undefined;
}

/** Puts the names of the database into one query. Aliases and raw texts stay as they are. */
export class NamesTransformer extends OperationNodeTransformer {
  readonly #tables: NamedTables;
  /** References to columns of the result, in an order. */
  readonly #toResult = new WeakSet<object>();
  #scope: Scope | undefined;
  #outputs: readonly NamedColumn[] | undefined;

  constructor(tables: NamedTables) {
    super();
    this.#tables = tables;
  }

  translate(node: RootOperationNode, queryId: QueryId): Translated {
    const translated = this.transformNode(node, queryId);
    return { node: translated, outputs: this.#outputs };
  }

  protected override transformSelectQuery(node: SelectQueryNode, queryId: QueryId) {
    return this.#within(node, (each) => super.transformSelectQuery(each, queryId));
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId: QueryId) {
    return this.#within(node, (each) => super.transformInsertQuery(each, queryId));
  }

  protected override transformUpdateQuery(node: UpdateQueryNode, queryId: QueryId) {
    return this.#within(node, (each) => super.transformUpdateQuery(each, queryId));
  }

  protected override transformDeleteQuery(node: DeleteQueryNode, queryId: QueryId) {
    return this.#within(node, (each) => super.transformDeleteQuery(each, queryId));
  }

  protected override transformMergeQuery(node: MergeQueryNode, queryId: QueryId) {
    return this.#within(node, (each) => super.transformMergeQuery(each, queryId));
  }

  protected override transformCommonTableExpressionName(node: CommonTableExpressionNameNode) {
    return node;
  }

  protected override transformOrderByItem(node: OrderByItemNode, queryId: QueryId) {
    const { orderBy } = node;
    if (ReferenceNode.is(orderBy) && !orderBy.table && this.#isOutput(orderBy))
      this.#toResult.add(orderBy);
    return super.transformOrderByItem(node, queryId);
  }

  protected override transformReference(node: ReferenceNode) {
    if (this.#toResult.has(node)) return node;
    const { table, column } = node;
    if (!table) return { ...node, column: this.#column(column, undefined) };
    const name = nameOf(table);
    const known = this.#tables.find(name, schemaOf(table));
    const source =
      findSource(this.#scope, name) ??
      (known && { as: name, emitted: known.table, columns: known.columns });
    if (!source) return node;
    return {
      ...node,
      table: renamed(table, source.emitted),
      column: this.#column(column, (asked) => columnIn(source, asked)),
    };
  }

  protected override transformColumn(node: ColumnNode) {
    return this.#column(node, undefined) as ColumnNode;
  }

  protected override transformTable(node: TableNode) {
    const name = nameOf(node);
    const known = findExpression(this.#scope, name)
      ? undefined
      : this.#tables.find(name, schemaOf(node));
    return known ? renamed(node, known.table) : node;
  }

  #column(
    node: ColumnNode | SelectAllNode,
    find: ((name: string) => NamedColumn | undefined) | undefined,
  ): ColumnNode | SelectAllNode {
    if (SelectAllNode.is(node)) return node;
    const { name } = node.column;
    const known = find ? find(name) : findColumn(this.#scope, name);
    return known ? { ...node, column: IdentifierNode.create(known.column) } : node;
  }

  /** Runs `transform` in the scope of the query, with its selections written out. */
  #within<Node extends QueryNode>(node: Node, transform: (node: Node) => Node): Node {
    const outer = this.#scope;
    const outputs = this.#outputs;
    const scope = scopeOf(this.#tables, node, outer);
    const selections = selectionsOf(node);
    const expanded = selections && expandSelections(selections, scope);
    const own = expanded && outputsOf(expanded, scope);
    this.#scope = scope;
    this.#outputs = own;
    try {
      return transform(expanded ? withSelections(node, expanded) : node);
    } finally {
      this.#scope = outer;
      this.#outputs = outer ? outputs : own;
    }
  }

  #isOutput({ column }: ReferenceNode): boolean {
    return (
      !SelectAllNode.is(column) &&
      (this.#outputs?.some(({ name }) => name === column.column.name) ?? false)
    );
  }
}

function withSelections<Node extends QueryNode>(
  node: Node,
  selections: SelectQueryNode['selections'],
): Node {
  return node.kind === 'SelectQueryNode'
    ? { ...node, selections }
    : { ...node, returning: { ...(node as InsertQueryNode).returning, selections } };
}

const renamed = (node: TableNode, name: string): TableNode => ({
  ...node,
  table: node.table.schema
    ? SchemableIdentifierNode.createWithSchema(node.table.schema.name, name)
    : SchemableIdentifierNode.create(name),
});

type QueryNode =
  | SelectQueryNode
  | InsertQueryNode
  | UpdateQueryNode
  | DeleteQueryNode
  | MergeQueryNode;

/** The scope of a query. `outer` is the scope of the query that contains it. */
function scopeOf(tables: NamedTables, node: QueryNode, outer: Scope | undefined): Scope {
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
function selectionsOf(node: OperationNode): readonly SelectionNode[] | undefined {
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
