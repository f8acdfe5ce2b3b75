import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { keepNewSpaceSmall } from '../new-space.ts';
import { disk } from '../write/disk.ts';
import { LOCKFILE } from '../write/lockfile.ts';
import { reportPlan } from './plan-report.ts';
import { isUpToDate } from './up-to-date.ts';
import { exitCodeOf } from './outcome.ts';

/** `generator check`: what `generate` would do, with nothing written. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  if (await isUpToDate(root, call)) return EXIT.done;
  const { planRun } = await import('../pipeline.ts');
  keepNewSpaceSmall();
  const plan = await planRun(root, {}, disk);
  await reportPlan(plan, call, true);
  const code = exitCodeOf(plan);
  if (code !== EXIT.done) return code;
  // After a merge of two branches the lock alone is behind: every file is right, and the next run puts it in order.
  const differs = plan.changes.some(
    ({ kind, path }) => kind !== 'same' && kind !== 'stale' && path !== LOCKFILE,
  );
  if (differs)
    call.terminal.note(
      'Generated files are not up to date: run "npm run generate" and commit what it writes.',
    );
  return differs ? EXIT.differs : EXIT.done;
}
