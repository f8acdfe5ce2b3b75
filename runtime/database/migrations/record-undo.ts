import {
  type CompiledQuery,
  type Kysely,
  type QueryResult,
  type RootOperationNode,
  sql,
  type Transaction,
} from 'kysely';
import {
  type Dialect,
  type DroppedValues,
  type Migration,
  openSqlite,
  type SqliteConnection,
  type Undo,
  type UndoStatement,
  type UndoValue,
} from '@twofold/runtime/store';
import { nameOf } from '../tables/alteration.ts';
import { createRun, type MigrationRun, withRun } from '../tables/migration-run.ts';
import { kyselyOver } from '../tables/recording.ts';

/** Thrown by a `down` that depends on rows, which will be others when it is run. */
const NOT_RECORDABLE = Symbol('not recordable');

interface Recording {
  readonly dialect: Dialect;
  readonly trx: Transaction<any> | Kysely<any>;
}

/**
 * Records the statements of a migration's `down` right after its `up`, in the same transaction.
 *
 * Nothing is changed: on SQLite they run on an empty copy of the tables in memory, because later
 * ones of a rebuild depend on earlier ones; on PostgreSQL they are not run at all, because they
 * would lock the tables for as long as they take.
 *
 * @returns null when there is no `down`, or when it reads rows, or fails.
 */
export async function recordUndo(
  { dialect, trx }: Recording,
  migration: Migration,
): Promise<Undo | null> {
  const { down } = migration;
  if (!down) return null;
  const shadow = dialect === 'sqlite' ? await shadowOf(trx) : null;
  const statements: UndoStatement[] = [];
  const run: MigrationRun = { ...createRun(), recorded: { drops: [], checks: [] } };
  const db = kyselyOver(dialect, async (query) => {
    const read = isRead(query.sql);
    if (read && run.depth === 0) throw NOT_RECORDABLE;
    if (!read) statements.push(statementOf(query, run));
    return shadow ? runOn(shadow, query) : read ? trx.executeQuery(query) : NOTHING;
  });
  try {
    await withRun(run, () => down(db, { dialect }));
    return statements;
  } catch {
    return null;
  } finally {
    shadow?.close();
  }
}

const NOTHING: QueryResult<any> = { rows: [] };

/** Whether a statement returns rows. It is not known what `down` does with them. */
function isRead(text: string): boolean {
  return /^[\s(]*(select|values|with|pragma|explain|show|table)\b|\breturning\b/i.test(text);
}

function runOn(shadow: SqliteConnection, query: CompiledQuery): QueryResult<any> {
  const { rows, changes } = shadow.run(query.sql, query.parameters);
  return { rows, numAffectedRows: changes };
}

/**
 * A copy of the database in memory with the same tables, indexes, views and triggers, and without
 * rows.
 */
async function shadowOf(db: Kysely<any>): Promise<SqliteConnection> {
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where sql is not null and name not like 'sqlite_%'
     order by case type when 'table' then 0 when 'view' then 1 else 2 end, rowid`.execute(db);
  const shadow = openSqlite(':memory:');
  shadow.exec('pragma foreign_keys = off');
  for (const { sql: text } of rows) {
    try {
      shadow.exec(text);
    } catch {
      // SQLite makes the tables of a virtual table together with it.
    }
  }
  return shadow;
}

/** The statement, with the drops and checks that its step has recorded. */
function statementOf({ sql: text, parameters, query }: CompiledQuery, run: MigrationRun) {
  const { drops, checks } = run.recorded!;
  const own = run.depth === 0 ? droppedBy(query as RootOperationNode, text) : [];
  const statement: UndoStatement = {
    sql: text,
    ...(parameters.length > 0 && { parameters: parameters.map(asValue) }),
    ...(drops.length + own.length > 0 && { drops: [...drops, ...own] }),
    ...(checks.length > 0 && { checks: [...checks] }),
  };
  drops.length = 0;
  checks.length = 0;
  return statement;
}

function asValue(value: unknown): UndoValue {
  if (value === undefined || value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw NOT_RECORDABLE;
}

/** The values that one statement removes from the database. */
export function droppedBy(node: RootOperationNode, text: string): DroppedValues[] {
  switch (node.kind) {
    case 'DropTableNode':
      return [{ table: nameOf(node.table) }];
    case 'DeleteQueryNode':
      return node.from.froms.map((from) => ({ table: nameOf(from) }));
    case 'AlterTableNode':
      return (node.columnAlterations ?? []).flatMap((change) =>
        change.kind === 'DropColumnNode'
          ? [{ table: nameOf(node.table), column: nameOf(change.column) }]
          : [],
      );
    case 'RawNode':
      return droppedByText(text);
    default:
      return [];
  }
}

const NAME = String.raw`(?:"([^"]+)"|([\w.]+))`;
const DROP_TABLE = new RegExp(String.raw`\bdrop\s+table\s+(?:if\s+exists\s+)?${NAME}`, 'gi');
const DELETE = new RegExp(String.raw`\b(?:delete\s+from|truncate(?:\s+table)?)\s+${NAME}`, 'gi');
const DROP_COLUMN = new RegExp(
  String.raw`\balter\s+table\s+${NAME}\s+drop\s+(?:column\s+)?(?!constraint\b)${NAME}`,
  'gi',
);

/** The values that handwritten SQL removes, as far as the SQL can be read. */
function droppedByText(text: string): DroppedValues[] {
  const tables = [DROP_TABLE, DELETE].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, quoted, plain]) => ({ table: plainName(quoted, plain) })),
  );
  const columns = [...text.matchAll(DROP_COLUMN)].map(([, quoted, plain, column, other]) => ({
    table: plainName(quoted, plain),
    column: plainName(column, other),
  }));
  return [...tables, ...columns];
}

function plainName(quoted: string | undefined, plain: string | undefined): string {
  return quoted ?? plain?.split('.').at(-1) ?? '';
}
