import type { RequestContext } from '../../context/request-context.ts';
import type { Kernel } from '../../module.ts';
import { outOfTime } from '../../store/bounds.ts';

/** Asks the database for its plan of a statement, as lines. */
type PlanOf = (text: string, values: readonly unknown[]) => Promise<readonly string[]>;

/**
 * Asks the database how it would run statements, within the limits of an answer. Without `ANALYZE`
 * it runs none of them, which holds for writes too. A text is planned once.
 */
export function createPlans({ store, project }: Kernel, context: RequestContext): PlanOf {
  const { limits } = project.api;
  const bounds = { asker: context, limits, sent: false };
  const planned = new Map<string, readonly string[]>();
  const until = performance.now() + limits.time;
  const prefix = store.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  return async (text, values) => {
    const known = planned.get(text);
    if (known) return known;
    if (performance.now() > until) throw outOfTime(limits);
    const rows = await store.answerRows({ text: `${prefix} ${text}` }, values, bounds);
    const lines = store.dialect === 'sqlite' ? sqliteLines(rows) : rows.map(postgresLine);
    planned.set(text, lines);
    return lines;
  };
}

type Row = Readonly<Record<string, unknown>>;

const postgresLine = (row: Row) => String(row['QUERY PLAN']);

/** SQLite's rows as lines. Each row names its parent row, which decides the indentation. */
function sqliteLines(rows: readonly Row[]): string[] {
  const depths = new Map<unknown, number>();
  return rows.map(({ id, parent, detail }) => {
    const depth = depths.get(parent) ?? 0;
    depths.set(id, depth + 1);
    return `${'  '.repeat(depth)}${String(detail)}`;
  });
}
