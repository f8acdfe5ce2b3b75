import type { Connections } from '../store/store.ts';
import type { NoteStatement } from '../store/statement-log.ts';
import type { Metrics } from './registry.ts';

const READS = /^\s*(?:select|values|explain|show|pragma)\b/i;
/** Words of writing statements. A common table expression (`with`) may contain one. */
const WRITES = /\b(?:insert|update|delete|merge)\b/i;

/** Counts each statement. */
export function statementMetrics(metrics: Metrics): NoteStatement {
  const timings = metrics.timings(
    { name: 'db_statements_total', help: 'Statements of the database' },
    { name: 'db_statement_duration_seconds', help: 'Time of a statement', labels: ['kind'] },
  );
  const [read, write] = [timings.series(['read']), timings.series(['write'])];
  return (sql, _parameters, milliseconds) =>
    (isRead(sql) ? read : write).observe(milliseconds / 1000);
}

const isRead = (sql: string) => READS.test(sql) || (/^\s*with\b/i.test(sql) && !WRITES.test(sql));

/** The connections of this process to its database. */
export function addConnectionMetrics(metrics: Metrics, connections: () => Connections): void {
  metrics.read(
    {
      name: 'database_connections',
      help: 'Connections to the database',
      type: 'gauge',
      labels: ['address', 'state'],
    },
    () => {
      const { used, idle, replicas = [] } = connections();
      return [{ used, idle }, ...replicas].flatMap((all, at) =>
        Object.entries(all).map(([state, value]) => ({
          of: [at === 0 ? 'primary' : `replica ${at}`, state],
          value,
        })),
      );
    },
  );
  metrics.read(
    { name: 'database_waiting', help: 'Callers that wait for one', type: 'gauge', labels: [] },
    () => [{ of: [], value: connections().waiting }],
  );
}
