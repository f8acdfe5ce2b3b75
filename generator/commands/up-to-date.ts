import type { CommandCall } from '../cli/command.ts';
import { readSources } from '../read.ts';
import { disk } from '../write/disk.ts';
import { findStamp } from '../write/stamp.ts';
import { reportFindings } from './outcome.ts';

/** Whether the last run saw these very inputs and files and had nothing to do. Says so as a whole run would. */
export async function isUpToDate(root: string, call: CommandCall): Promise<boolean> {
  const sources = await readSources(root);
  const findings = sources.problems.length > 0 ? null : await findStamp(sources, disk);
  if (findings === null) return false;
  if (call.terminal.json) call.terminal.document({ ok: true, findings, changes: [] });
  else {
    reportFindings({ sources, findings }, call);
    call.terminal.note('Everything is up to date.');
  }
  return true;
}
