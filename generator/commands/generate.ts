import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import type { ExitCode } from '../failure.ts';
import { planRun, readProjectOf, run as runPipeline } from '../pipeline.ts';
import { disk } from '../write/disk.ts';
import { exitCodeOf, reportFindings } from './outcome.ts';
import { reportPlan, runOptions } from './plan-report.ts';

/** `generator generate` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { options } = call;
  if (options['print-model']) return printModel(call);
  if (options['watch']) return (await import('./watch.ts')).watch(call);
  const dry = Boolean(options['dry-run'] || options['diff']);
  const root = resolve(call.cwd);
  const plan = await (dry ? planRun(root, runOptions(call), disk) : runPipeline(root, runOptions(call), disk));
  await reportPlan(plan, call, dry);
  return exitCodeOf(plan);
}

async function printModel(call: CommandCall): Promise<ExitCode> {
  const reading = await readProjectOf(resolve(call.cwd));
  if (reading.project) call.terminal.document(reading.project);
  else if (call.terminal.json) call.terminal.document({ ok: false, findings: reading.findings });
  else reportFindings(reading, call);
  return exitCodeOf({ ...reading, changes: [] });
}
