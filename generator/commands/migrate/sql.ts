import { EXIT, type ExitCode } from '../../failure.ts';
import { askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';

/** `generator migrate sql`: all that is pending as SQL, for somebody else to run. */
export async function run({ root, terminal }: MigrateCall): Promise<ExitCode> {
  const sql = await askDatabase(root, 'sql');
  if (terminal.json) terminal.document({ ok: true, sql });
  else if (sql === '') terminal.note('The database is up to date.');
  else terminal.data(sql);
  return EXIT.done;
}
