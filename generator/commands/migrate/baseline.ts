import { EXIT, type ExitCode } from '../../failure.ts';
import { askDatabase } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';
import { formatDrift } from './drift.ts';

/**
 * `generator migrate baseline`: records what is pending as applied, if the database is what it would
 * make.
 */
export async function run({ root, terminal }: MigrateCall): Promise<ExitCode> {
  const { recorded, drift } = await askDatabase(root, 'baseline');
  const equal = drift.length === 0;
  if (terminal.json) terminal.document({ ok: equal, recorded, drift });
  else if (equal)
    terminal.note(
      recorded.length === 0
        ? 'Nothing is pending.'
        : recorded.map((name) => `  recorded  ${name}`).join('\n'),
    );
  else {
    terminal.data(formatDrift(drift));
    terminal.say('The database is not what the migrations would make; nothing was recorded.');
  }
  return equal ? EXIT.done : EXIT.differs;
}
