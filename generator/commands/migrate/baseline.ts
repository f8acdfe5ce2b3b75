import { EXIT, type ExitCode } from '../../failure.ts';
import { askProject } from '../../run-project.ts';
import type { MigrateCall } from './call.ts';
import { type Drift, formatDrift } from './drift.ts';

interface Baseline {
  readonly recorded: readonly string[];
  readonly drift: readonly Drift[];
}

/**
 * `generator migrate baseline`: records what is pending as applied, if the database is what it would
 * make.
 */
export async function run({ root, terminal }: MigrateCall): Promise<ExitCode> {
  const { recorded, drift } = await askProject<Baseline>(root, 'baseline');
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
