import {
  type AddColumnNode,
  type ColumnDefinitionBuilder,
  type Expression,
  ExpressionWrapper,
  type Kysely,
  type OnModifyForeignAction,
  type OperationNode,
  ValueNode,
} from 'kysely';
import type { DataType, TableChange } from '@twofold/runtime/store';
import { missing, type StepOf, type Table, type TableForeignKey } from '@twofold/schema';

/** A change of a table, with the SQL of columns. */
export type Alteration =
  | { readonly kind: 'add'; readonly column: ColumnDescription }
  | { readonly kind: 'alter'; readonly column: ColumnDescription }
  | Exclude<TableChange, { readonly name: string }>;

/** One statement of a migration: a step, as far as code tells it, or a text that cannot be read. */
export type RecordedStep =
  | StepOf<'renameTable' | 'renameColumn' | 'createIndex' | 'dropIndex'>
  | { readonly kind: 'dropTable'; readonly table: { readonly name: string } }
  | {
      readonly kind: 'createTable';
      readonly table: Pick<Table, 'name'> & { readonly columns: readonly Pick<Table, 'name'>[] };
      /** Whether a table that is there is left as it is. */
      readonly ifNotExists?: boolean;
    }
  | (Omit<StepOf<'alterTable'>, 'changes'> & { readonly changes: readonly Alteration[] })
  | (Omit<StepOf<'renameValue'>, 'from' | 'to'> & { readonly from: unknown; readonly to: unknown })
  /** `table` is the table that the statement changes; null when it may change any. */
  | { readonly kind: 'unknown'; readonly table: string | null; readonly statement: string };

/** The columns of its table that a change is about. */
export const columnsIn = (change: Alteration): readonly string[] =>
  'key' in change ? change.key.columns : [change.column.name];

/** A column as a migration describes it: the SQL of its definition, and its parts one by one. */
export interface ColumnDescription {
  readonly name: string;
  readonly type: DataType;
  /** The former type, when the migration names it. */
  readonly from?: DataType;
  /** `"title" text not null` */
  readonly definition: string;
  readonly required: boolean;
  readonly unique: boolean;
  readonly default?: unknown;
  readonly check?: Expression<any>;
  readonly references?: ForeignKey;
}

/** A foreign key of one or more columns. Code may state more actions than a schema. */
export interface ForeignKey extends Omit<TableForeignKey, 'onDelete'> {
  readonly onDelete: OnModifyForeignAction;
}

interface Description {
  readonly table: string;
  readonly name: string;
  readonly type: DataType;
  readonly from?: DataType | undefined;
  readonly build: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

/** Reads the definition that a column's builder makes. */
export function describeColumn(
  db: Kysely<any>,
  { table, name, type, from, build }: Description,
): ColumnDescription {
  // Without plugins: the one that counts statements must not see what is only read.
  const added = db.withoutPlugins().schema.alterTable(table).addColumn(name, type, build);
  const statement = added.compile().sql;
  const [change] = added.toOperationNode().columnAlterations ?? [];
  const { notNull, unique, defaultTo, check, references } = (change as AddColumnNode).column;
  return {
    name,
    type,
    ...(from !== undefined && { from }),
    definition: statement.slice(statement.indexOf(' add column ') + ' add column '.length),
    required: notNull === true,
    unique: unique === true,
    ...(defaultTo && { default: valueOf(defaultTo.defaultValue) }),
    ...(check && { check: new ExpressionWrapper(check.expression) }),
    ...(references && {
      references: {
        columns: [name],
        table: nameOf(references.table),
        references: references.columns.map((each) => nameOf(each)),
        onDelete: references.onDelete ?? 'no action',
      },
    }),
  };
}

const valueOf = (node: OperationNode): unknown =>
  ValueNode.is(node) ? node.value : new ExpressionWrapper(node);

/** The name in a part of a statement that always has one. */
export const nameOf = (part: unknown): string => nameIn(part) ?? missing('a name');

/** The first name in a part of a statement: of a table without its schema. */
export function nameIn(part: unknown): string | null {
  if (typeof part !== 'object' || part === null) return null;
  const { kind, schema: _schema, ...inner } = part as Record<string, unknown>;
  if (kind === 'IdentifierNode') return String(inner['name']);
  for (const each of Object.values(inner)) {
    const name = nameIn(each);
    if (name !== null) return name;
  }
  return null;
}
