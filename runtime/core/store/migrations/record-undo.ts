import type { CompiledQuery, Kysely, QueryResult, RootOperationNode, Transaction } from 'kysely';
import { sql } from 'kysely';
import { droppedBy } from './dropped-values.ts';
import type { Migration } from './migration.ts';
import { createRun, type MigrationRun, withRun } from '../tables/migration-run.ts';
import { kyselyOver } from '../tables/recording.ts';
import { openSqlite, type SqliteConnection } from '../sqlite/sqlite-connection.ts';
import type { Dialect } from '../store.ts';
import type { Undo, UndoStatement, UndoValue } from '../tables/undo-statement.ts';

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
