import { buildTables, type Project } from '@twofold/schema';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { inlined } from '../../runtime/database/plan/inlined.ts';
import { kyselyOver } from '../../runtime/database/tables/recording.ts';
import type { Dialect, Store } from '../../runtime/core/store/store.ts';

/**
 * The statements that make the tables of a project on an empty database, as the runtime makes them.
 *
 * @example await sqlOf(project, 'sqlite') // 'create table "posts" (…);'
 */
export async function sqlOf(project: Project, dialect: Dialect): Promise<string> {
  if (project.unmanaged) return '';
  const tables = buildTables(project);
  const statements: string[] = [];
  const db = kyselyOver(dialect, async ({ sql, parameters }) => {
    if (/^\s*(?:select|with|pragma)\b/i.test(sql))
      return { rows: answer(project, sql, parameters) };
    statements.push(inlined(sql, parameters));
    return { rows: [] };
  });
  const empty: Pick<Store, 'lock' | 'structuralTransaction'> = {
    lock: (_, work) => work(),
    structuralTransaction: (work) => work(db as never),
  };
  await createTables(empty as Store, tables, project.ids);
  return statements.map((statement) => `${readable(statement)};\n`).join('\n');
}

/** The database has no tables yet. Only an index of a search asks for the key of a table that was just made. */
function answer(project: Project, sql: string, [name]: readonly unknown[]): object[] {
  if (!sql.includes('pragma_table_info(?)')) return [];
  const table = buildTables(project).find((each) => each.name === name);
  return (table?.primaryKey ?? []).map((key, at) => {
    const column = table!.columns.find((each) => each.name === key);
    const isCounted = column?.type === 'id' && project.ids === 'integer';
    return { name: key, type: isCounted ? 'integer' : 'text', pk: at + 1 };
  });
}

/** A statement with a line for each column. */
function readable(statement: string): string {
  if (!/^create table/i.test(statement)) return statement;
  let depth = 0;
  let quoted = false;
  return [...statement]
    .map((character) => {
      if (character === "'") quoted = !quoted;
      if (quoted) return character;
      if (character === '(') return ++depth === 1 ? '(\n  ' : character;
      if (character === ')') return --depth === 0 ? '\n)' : character;
      return character === ',' && depth === 1 ? ',\n ' : character;
    })
    .join('');
}
