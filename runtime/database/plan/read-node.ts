import {
  type AlterTableNode,
  BinaryOperationNode,
  type CreateIndexNode,
  type CreateTableNode,
  type OperationNode,
  OperatorNode,
  type RootOperationNode,
  type UpdateQueryNode,
  ValueNode,
} from 'kysely';
import {
  type Alteration,
  type ColumnDescription,
  nameIn,
  nameOf,
  type RecordedStep,
} from '../tables/alteration.ts';

/**
 * Reads a statement that the query builder made. `text`: its SQL, which stands for it when it
 * cannot be read.
 */
export function readNode(node: RootOperationNode, text: string): RecordedStep[] {
  const read = READERS[node.kind]?.(node as never);
  return read ?? [{ kind: 'unknown', table: readTable(node), statement: text }];
}

const named = (node: OperationNode) => ({ name: nameOf(node) });

type Reader<N> = (node: N) => RecordedStep[] | null;

const READERS: Readonly<Partial<Record<RootOperationNode['kind'], Reader<never>>>> = {
  CreateTableNode: readCreateTable,
  DropTableNode: (node: { readonly table: OperationNode }) => [
    { kind: 'dropTable', table: named(node.table) },
  ],
  AlterTableNode: readAlterTable,
  CreateIndexNode: readCreateIndex,
  DropIndexNode: (node: { readonly name: OperationNode }) => [
    {
      kind: 'dropIndex',
      table: '',
      index: { name: nameOf(node.name), columns: [], unique: false },
    },
  ],
  UpdateQueryNode: readUpdate,
};

function readCreateTable({
  table,
  columns,
  selectQuery,
  ifNotExists,
}: CreateTableNode): RecordedStep[] | null {
  if (selectQuery) return null;
  return [
    {
      kind: 'createTable',
      table: { ...named(table), columns: columns.map(({ column }) => named(column)) },
      ...(ifNotExists && { ifNotExists }),
    },
  ];
}

function readAlterTable(node: AlterTableNode): RecordedStep[] | null {
  const table = nameOf(node.table);
  if (node.renameTo) return [{ kind: 'renameTable', from: table, to: nameOf(node.renameTo) }];
  if (!node.columnAlterations || node.addConstraint || node.dropConstraint || node.addIndex)
    return null;
  const steps = node.columnAlterations.map((each) => readColumnChange(table, each));
  return steps.includes(null) ? null : (steps as RecordedStep[]);
}

type ColumnChangeNode = NonNullable<AlterTableNode['columnAlterations']>[number];

function readColumnChange(table: string, node: ColumnChangeNode): RecordedStep | null {
  if (node.kind === 'RenameColumnNode')
    return {
      kind: 'renameColumn',
      table,
      from: nameOf(node.column),
      to: nameOf(node.renameTo),
    };
  if (node.kind === 'DropColumnNode')
    return {
      kind: 'alterTable',
      table,
      changes: [{ kind: 'drop', column: { name: nameOf(node.column) } }],
    };
  return node.kind === 'AddColumnNode'
    ? { kind: 'alterTable', table, changes: [readAddColumn(node)] }
    : null;
}

function readAddColumn({
  column,
}: Extract<ColumnChangeNode, { kind: 'AddColumnNode' }>): Alteration {
  const described: ColumnDescription = {
    name: nameOf(column.column),
    type: 'text',
    definition: '',
    required: column.notNull === true || column.primaryKey === true,
    unique: column.unique === true,
    // Every row gets the same value, so the value itself does not matter.
    ...((column.defaultTo || column.generated || column.identity) && { default: 0 }),
  };
  return { kind: 'add', column: described };
}

/** An index over a part of the rows cannot be checked when it is unique. */
function readCreateIndex(node: CreateIndexNode): RecordedStep[] | null {
  const columns = (node.columns ?? []).map(columnOf);
  const unique = node.unique === true;
  if (unique && (node.where || columns.length === 0 || columns.includes(null))) return null;
  return [
    {
      kind: 'createIndex',
      table: nameOf(node.table),
      index: {
        name: nameOf(node.name),
        columns: columns.filter((name) => name !== null),
        unique,
      },
    },
  ];
}

function columnOf(node: OperationNode): string | null {
  return node.kind === 'RawNode' ? null : nameIn(node);
}

/**
 * `update jobs set status = 'B' where status = 'A'`, or `where status is null`: a value of an enum
 * has a new name, or rows without a value get one.
 */
function readUpdate({ table, updates = [], where, from }: UpdateQueryNode): RecordedStep[] | null {
  const [update, ...others] = updates;
  const condition = where?.where;
  if (!table || !update || others.length > 0 || from || !condition) return null;
  if (!BinaryOperationNode.is(condition)) return null;
  const { leftOperand, operator, rightOperand } = condition;
  const column = nameIn(update.column);
  if (column === null || nameIn(leftOperand) !== column) return null;
  if (!ValueNode.is(update.value) || !ValueNode.is(rightOperand)) return null;
  const asked = OperatorNode.is(operator) ? operator.operator : null;
  if (asked !== (rightOperand.value === null ? 'is' : '=')) return null;
  const values = { from: rightOperand.value, to: update.value.value };
  return [{ kind: 'renameValue', table: nameOf(table), column, ...values }];
}

function readTable(node: RootOperationNode): string | null {
  const named = node as unknown as Record<string, unknown>;
  return nameIn(named['table'] ?? named['into'] ?? named['from']);
}
