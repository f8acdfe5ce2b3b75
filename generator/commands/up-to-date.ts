import type { CommandCall } from '../cli/command.ts';
import { formatFields } from '../answered-fields.ts';
import { readSources } from '../read.ts';
import { disk } from '../write/disk.ts';
import { findStamp } from '../write/stamp.ts';
import { reportFindings } from './outcome.ts';

/**
 * Whether the last run had these same inputs and files and nothing to do. If so, prints the same
 * report as a whole run.
 */
export async function isUpToDate(root: string, call: CommandCall): Promise<boolean> {
  const sources = await readSources(root);
  const stamp = sources.problems.length > 0 ? null : await findStamp(sources, disk);
  if (stamp === null) return false;
  const { findings, fields, documents } = stamp;
  if (call.terminal.json)
    call.terminal.document({
      ok: true,
      findings,
      ...(fields && { fields }),
      ...(documents && { documents }),
      changes: [],
    });
  else {
    reportFindings({ sources, findings }, call, findings);
    if (fields) call.terminal.note(formatFields(fields));
    call.terminal.note('Everything is up to date.');
  }
  return true;
}
