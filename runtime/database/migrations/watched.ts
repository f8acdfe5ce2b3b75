import { type CreateIndexNode, type Kysely, type RootOperationNode, sql } from 'kysely';
import type { Dialect } from '@twofold/runtime/store';
import { nameIn } from '../tables/alteration.ts';
import { beginStep, type MigrationRun, reportRows } from '../tables/migration-run.ts';
import { kyselyOver } from '../tables/recording.ts';
import { repeatedValues } from '../tables/row-checks.ts';
import { droppedBy } from './record-undo.ts';

interface Watched {
  readonly dialect: Dialect;
  readonly db: Kysely<any>;
  readonly run: MigrationRun;
  /** Indexes that exist already, because they were prepared without blocking. */
  readonly prepared?: ReadonlySet<string> | undefined;
}

/**
 * The query builder of a migration that runs. Each statement that changes something is a step, with
 * the statements that it causes, and values are saved before they are dropped.
 */
export function watchedBuilder({ dialect, db, run, prepared }: Watched): Kysely<any> {
  return kyselyOver(dialect, async (query) => {
    const { query: node, sql: text } = query;
    if (run.depth === 0) {
      if (node.kind !== 'SelectQueryNode') beginStep(run, objectOf(node));
      for (const dropped of droppedBy(node, text)) await run.rescue?.(dropped);
    }
    const work = () => db.executeQuery(query);
    if (node.kind !== 'CreateIndexNode') return work();
    if (prepared?.has(nameIn(node.name) ?? '')) return { rows: [] };
    return node.unique ? makeUnique(db, node, work) : work();
  });
}

/** The table or index of a statement; null for raw SQL. */
function objectOf(node: RootOperationNode): string | null {
  const named = node as unknown as Record<string, unknown>;
  if (node.kind === 'CreateIndexNode' || node.kind === 'DropIndexNode')
    return nameIn(named['name']);
  return nameIn(named['table'] ?? named['into'] ?? named['from'] ?? named['name']);
}

/** Makes a unique index, or reports the rows that repeat a value. */
async function makeUnique<T>(
  db: Kysely<any>,
  index: CreateIndexNode,
  work: () => Promise<T>,
): Promise<T | { rows: never[] }> {
  const table = nameIn(index.table);
  const columns = (index.columns ?? []).map((each) =>
    each.kind === 'RawNode' ? null : nameIn(each),
  );
  if (table === null || columns.length === 0 || columns.includes(null)) return work();
  // PostgreSQL does nothing more in a transaction after a statement that failed.
  const savepoint = sql.id('twofold_unique');
  await sql`savepoint ${savepoint}`.execute(db);
  try {
    const made = await work();
    await sql`release savepoint ${savepoint}`.execute(db);
    return made;
  } catch (error) {
    await sql`rollback to savepoint ${savepoint}`.execute(db);
    const finding = await repeatedValues(db, table, columns as string[]);
    if (!finding) throw error;
    reportRows(finding);
    return { rows: [] };
  }
}
