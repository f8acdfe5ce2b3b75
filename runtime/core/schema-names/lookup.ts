import { SelectAllNode, type ReferenceNode, type TableNode } from 'kysely';
import type { NamedColumn } from './named-tables.ts';

/** A source of rows in a query. */
export interface Source {
  /** The name by which the query refers to it. */
  readonly as: string;
  /** The name that the statement has for it. */
  readonly emitted: string;
  /** Undefined for a table that the schema does not have. */
  readonly columns: readonly NamedColumn[] | undefined;
}

/** What names mean in one query. */
export interface Scope {
  readonly sources: readonly Source[];
  /** The columns of its common table expressions, by their name. */
  readonly expressions: ReadonlyMap<string, readonly NamedColumn[] | undefined>;
  readonly outer: Scope | undefined;
}

export const nameOf = ({ table }: TableNode): string => table.identifier.name;

/** The schema of PostgreSQL that a query names, as in `music.track`. */
export const schemaOf = ({ table }: TableNode): string | undefined => table.schema?.name;

/** A column whose name is the same everywhere. */
export const plain = (name: string): NamedColumn => ({ column: name, name });

export function findExpression(
  scope: Scope | undefined,
  name: string,
): { readonly columns: readonly NamedColumn[] | undefined } | undefined {
  for (let within = scope; within; within = within.outer)
    if (within.expressions.has(name)) return { columns: within.expressions.get(name) };
  return undefined;
}

/** The source whose name stands before a dot: its alias, or its table in either spelling. */
export function findSource(scope: Scope | undefined, name: string): Source | undefined {
  for (let within = scope; within; within = within.outer) {
    const found =
      within.sources.find(({ as }) => as === name) ??
      within.sources.find(({ emitted }) => emitted === name);
    if (found) return found;
  }
  return undefined;
}

/** The column of a source by its name in the schema or in the database. */
export const columnIn = (source: Source, name: string): NamedColumn | undefined =>
  source.columns?.find((column) => column.name === name) ??
  source.columns?.find(({ column }) => column === name);

/** The column that a name without a dot means. */
export function findColumn(scope: Scope | undefined, name: string): NamedColumn | undefined {
  for (let within = scope; within; within = within.outer)
    for (const source of within.sources) {
      const found = columnIn(source, name);
      if (found) return found;
    }
  return undefined;
}

/** The column that a reference refers to. */
export function columnOf(scope: Scope, node: ReferenceNode): NamedColumn | undefined {
  if (SelectAllNode.is(node.column)) return undefined;
  const { name } = node.column.column;
  if (!node.table) return findColumn(scope, name);
  const source = findSource(scope, nameOf(node.table));
  return source && columnIn(source, name);
}
