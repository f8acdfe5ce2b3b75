import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  ReferenceNode,
  SelectAllNode,
  SelectionNode,
  TableNode,
} from 'kysely';
import type { NamedColumn } from './named-tables.ts';
import { columnOf, findSource, nameOf, plain, type Scope, type Source } from './lookup.ts';

/**
 * Gives selections the names that the code asked for. A column with another name in the database
 * gets an alias, and `selectAll` becomes the columns of the schema.
 */
export const expandSelections = (
  selections: readonly SelectionNode[],
  scope: Scope,
): SelectionNode[] =>
  selections.flatMap((node) => {
    const { selection } = node;
    if (SelectAllNode.is(selection)) return allOf(scope) ?? [node];
    if (!ReferenceNode.is(selection)) return [node];
    if (!SelectAllNode.is(selection.column)) return [aliased(node, selection, scope)];
    const source = selection.table && findSource(scope, nameOf(selection.table));
    return source?.columns ? columnsOf(source, true) : [node];
  });

/** Undefined when nothing has to be expanded. */
function allOf({ sources }: Scope): SelectionNode[] | undefined {
  const rows = sources.filter(({ as }) => as !== 'excluded');
  if (!rows.some(({ columns }) => columns)) return undefined;
  const joined = rows.length > 1;
  return rows.flatMap((source) =>
    source.columns
      ? columnsOf(source, joined)
      : [SelectionNode.create(ReferenceNode.createSelectAll(TableNode.create(source.as)))],
  );
}

const columnsOf = ({ as, columns = [] }: Source, qualified: boolean): SelectionNode[] =>
  columns.map((column) => {
    const table = qualified ? TableNode.create(as) : undefined;
    const reference = ReferenceNode.create(ColumnNode.create(column.name), table);
    return SelectionNode.create(named(reference, column));
  });

function aliased(node: SelectionNode, reference: ReferenceNode, scope: Scope): SelectionNode {
  const column = columnOf(scope, reference);
  const asked = (reference.column as ColumnNode).column.name;
  return column?.name === asked ? SelectionNode.create(named(reference, column)) : node;
}

const named = (reference: ReferenceNode, { name, column }: NamedColumn) =>
  name === column ? reference : AliasNode.create(reference, IdentifierNode.create(name));

/** The columns of a result; undefined when one of its selections is not known. */
export function outputsOf(
  selections: readonly SelectionNode[],
  scope: Scope,
): NamedColumn[] | undefined {
  const outputs = selections.map(({ selection }) => outputOf(selection, scope));
  return outputs.every((output) => output !== undefined) ? outputs : undefined;
}

function outputOf(selection: SelectionNode['selection'], scope: Scope): NamedColumn | undefined {
  const { node, alias } = AliasNode.is(selection)
    ? selection
    : { node: selection, alias: undefined };
  if (alias && !IdentifierNode.is(alias)) return undefined;
  if (!ReferenceNode.is(node)) return alias && plain(alias.name);
  if (SelectAllNode.is(node.column)) return undefined;
  const name = alias?.name ?? node.column.column.name;
  return { ...plain(name), convert: columnOf(scope, node)?.convert };
}
