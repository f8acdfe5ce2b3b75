import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { keepNewSpaceSmall, exitCodeOf, reportBrokenInputs } from './outcome.ts';
import type { RunPlan } from '../pipeline.ts';
import { disk } from '../write/disk.ts';
import { LOCKFILE } from '../write/lockfile.ts';
import { writeStamp } from '../write/stamp.ts';
import { installedBy } from './package-manager.ts';
import { reportPackages, reportPlan, reportSecrets, runOptions } from './plan-report.ts';
import { isUpToDate } from './up-to-date.ts';

/** `generator generate`. The modules of a run are loaded only when there is something to do. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { options } = call;
  if (options['print-model']) return printModel(call);
  if (options['watch']) return (await import('./watch.ts')).watch(call);
  const root = resolve(call.cwd);
  const dry = Boolean(options['dry-run'] || options['diff']);
  const decides = Boolean(options['allow-drop'] || options['allow-loss']);
  if (!dry && !decides && (await isUpToDate(root, call))) return EXIT.done;
  const pipeline = await import('../pipeline.ts');
  keepNewSpaceSmall();
  const plan = await (dry
    ? pipeline.planRun(root, runOptions(call), disk)
    : pipeline.run(root, runOptions(call), disk));
  await reportPlan(plan, call, dry);
  const code = exitCodeOf(plan);
  if (!dry) await afterWriting(plan, call, code);
  return code;
}

/** Says what is left to do, and notes that the files are up to date. */
async function afterWriting(plan: RunPlan, call: CommandCall, code: ExitCode): Promise<void> {
  await reportSecrets(plan, call);
  if (reportPackages(plan, call).length > 0)
    call.terminal.note(`\nNext:\n  ${installedBy(resolve(call.cwd)).name} install`);
  if (code === EXIT.done) await writeStamp(plan, disk);
  if (isFirst(plan))
    call.terminal.note(
      '\nNext:\n  npm install\n  npm start\n  npm run dev\n\nREADME.md says what each file is for.',
    );
}

/** Whether this run creates the project. */
function isFirst({ changes }: RunPlan): boolean {
  return ['package.json', 'README.md', LOCKFILE].every((path) =>
    changes.some((change) => change.path === path && change.kind === 'create'),
  );
}

async function printModel(call: CommandCall): Promise<ExitCode> {
  const { readProjectOf } = await import('../read-project.ts');
  const reading = await readProjectOf(resolve(call.cwd));
  const { project } = reading;
  if (!project) return reportBrokenInputs(reading, call);
  call.terminal.document(call.terminal.json ? { ok: true, model: project } : project);
  return EXIT.done;
}
