import type { CommandCall } from '../cli/command.ts';
import type { DocumentCounts } from '../documents/plan-documents.ts';
import { EXIT } from '../failure.ts';
import type { RunPlan, RunOptions } from '../pipeline.ts';
import { addedPackages } from '../added-packages.ts';
import { changeAsData, formatChanges } from '../report.ts';
import { formatFields } from '../answered-fields.ts';
import { addSecrets } from '../secrets.ts';
import { disk } from '../write/disk.ts';
import { lastFindings } from '../write/stamp.ts';
import { exitCodeOf, reportFindings } from './outcome.ts';

/** Translates the options of `generate` into options of the pipeline. */
export function runOptions({ options }: CommandCall): RunOptions {
  return {
    force: options['force'] === true,
    client: options['no-client'] !== true,
    allowDrop: (options['allow-drop'] as readonly string[] | undefined) ?? [],
    allowLoss: (options['allow-loss'] as readonly string[] | undefined) ?? [],
  };
}

/**
 * Adds the secrets that the project now needs to `.env`, and reports them.
 *
 * @returns whether the file was written.
 */
export async function reportSecrets(plan: RunPlan, { terminal }: CommandCall): Promise<boolean> {
  if (!plan.project || exitCodeOf(plan) !== EXIT.done) return false;
  const added = await addSecrets(plan.sources.root, plan.project, disk);
  if (added.length === 0) return false;
  const names = added.join(', ');
  terminal.note(`${terminal.paint.green('added')}  ${names} to .env: random, and git ignores it`);
  return true;
}

/**
 * Reports the packages that the project now needs, and how to install them.
 *
 * @returns their names.
 */
export function reportPackages(plan: RunPlan, { terminal }: CommandCall): readonly string[] {
  const added = addedPackages(plan.changes);
  if (added.length === 0 || exitCodeOf(plan) !== EXIT.done) return [];
  const names = added.join(', ');
  terminal.note(
    `${terminal.paint.green('added')}  ${names} to package.json: ` +
      `the project needs ${names.includes(',') ? 'them' : 'it'} now`,
  );
  return added;
}

/** Reports what a run did, or with `dry` what it would do. */
export async function reportPlan(
  plan: RunPlan,
  call: CommandCall,
  dry: boolean,
  code = exitCodeOf(plan),
): Promise<void> {
  const { terminal, options } = call;
  const changes = plan.changes.filter(({ kind }) => kind !== 'same');
  if (terminal.json) {
    const added = addedPackages(plan.changes);
    terminal.document({
      ok: code === EXIT.done,
      findings: plan.findings,
      ...(plan.fields && { fields: plan.fields }),
      ...(plan.documents?.counts && { documents: plan.documents.counts }),
      changes: changes.map(changeAsData),
      ...(added.length > 0 && { packages: added }),
    });
    return;
  }
  reportFindings(plan, call, await lastFindings(plan.sources.root, disk));
  if (options['diff']) terminal.data((await import('../diff.ts')).formatDiffs(changes));
  else if (dry)
    terminal.data(
      formatChanges(changes, terminal.paint)
        .map((line) => `${line}\n`)
        .join(''),
    );
  else if (plan.project)
    formatChanges(changes, terminal.paint).forEach((line) => terminal.note(line));
  reportEdited(plan, call);
  if (plan.fields) terminal.note(formatFields(plan.fields));
  if (plan.documents?.counts) terminal.note(formatCounts(plan.documents.counts));
  if (plan.project && changes.length === 0) terminal.note('Everything is up to date.');
}

/** `documents: 12 live, 1 retired, 2 added`. */
function formatCounts({ live, ...others }: DocumentCounts): string {
  const more = Object.entries(others).flatMap(([what, count]) =>
    count > 0 ? `${count} ${what}` : [],
  );
  return `documents: ${[`${live} live`, ...more].join(', ')}`;
}

function reportEdited({ changes }: RunPlan, { terminal }: CommandCall): void {
  const edited = changes.filter(({ kind }) => kind === 'edited').map(({ path }) => path);
  if (edited.length === 0) return;
  terminal.say(
    `${edited.join(', ')} ${edited.length === 1 ? 'was' : 'were'} edited by hand, and the generator owns ${edited.length === 1 ? 'it' : 'them'}; nothing was written.\n` +
      '   fix  undo the edit, or run with --force: the edited text is then kept under .generator/rescued/',
  );
}
