import { last, nearest } from '@twofold/schema';
import { resolve } from 'node:path';
import type { Project } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { ask } from '../cli/ask.ts';
import { formatDiffs } from '../diff.ts';
import { findLeftOvers } from '../edit/left-overs.ts';
import { planRename, type RenamePlan } from '../edit/rename-plan.ts';
import type { Rename } from '../edit/rename-in-schema.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { run as runPipeline, type RunPlan } from '../pipeline.ts';
import { hasErrors, readProjectOf } from '../read-project.ts';
import { commit } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { lockOf } from '../write/lockfile.ts';
import { withRunLock } from '../write/run-lock.ts';
import { exitCodeOf, reportBrokenInputs, reportFindings } from './outcome.ts';

/**
 * `generator rename FROM TO`: renames in the schema, the user's code, the documents of front ends
 * and the database, and shows a diff first. All of it, or nothing.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { terminal } = call;
  const root = resolve(call.cwd);
  const reading = await readProjectOf(root);
  if (!reading.project) return reportBrokenInputs(reading, call);
  const rename = readRename(call.positionals, reading.project);
  const plan = await planRename(reading, rename, disk);
  if (exitCodeOf(plan.run) !== EXIT.done) return refuse(plan.run, call);
  const { changes, gone } = plan;
  const left = await findLeftOvers(root, reading.project, { gone, changes, disk });
  if (!terminal.json) terminal.data(formatDiffs(changes));
  if (left.length > 0)
    terminal.note(
      `left as it is, npm run typecheck says what means it: ${left.map(placeOf).join(', ')}`,
    );
  const wanted = await isWanted(call);
  const failed = wanted ? await apply(root, plan) : null;
  if (failed) return refuse(failed, call);
  if (terminal.json)
    terminal.document({ ok: true, renamed: wanted, files: changes.map(({ path }) => path), left });
  else if (!wanted) terminal.note('nothing was changed');
  else if (plan.migrations.length === 0) terminal.note('renamed');
  else terminal.note(`renamed, with ${plan.migrations.map(({ path }) => path).join(', ')}`);
  return EXIT.done;
}

const placeOf = ({ file, line, column }: { file: string; line: number; column: number }) =>
  `${file}:${line}:${column}`;

/** @throws CommandError 5 where nobody can be asked. */
async function isWanted({ terminal, options }: CommandCall): Promise<boolean> {
  if (options['yes'] === true) return true;
  if (terminal.json || !terminal.interactive)
    throw new CommandError('NOT_CONFIRMED', {
      message: 'nothing was changed',
      fix: '--yes renames',
      exit: EXIT.ambiguous,
    });
  return (await ask('Rename so? [y/N] ')).trim().toLowerCase().startsWith('y');
}

/** Says why nothing was renamed. */
function refuse(run: RunPlan, call: CommandCall): ExitCode {
  const edited = run.changes.filter(({ kind }) => kind === 'edited').map(({ path }) => path);
  if (edited.length > 0)
    throw new CommandError('GENERATED_FILE_EDITED', {
      message: `nothing was renamed: ${edited.join(', ')} was edited by hand`,
      fix: 'npm run generate -- --force, which keeps the edit under .generator/rescued/',
      exit: EXIT.invalid,
    });
  const { findings } = run;
  if (call.terminal.json) call.terminal.document({ ok: false, renamed: false, findings });
  else reportFindings(run, call, [], 'nothing was renamed');
  return exitCodeOf(run);
}

/**
 * Writes the user's files and the migration in one commit, and what follows from them. If a plugin of
 * `codegen:` fails on the new names, all files get their old text again.
 *
 * @returns the run that failed, or null.
 */
async function apply(root: string, { changes, migrations }: RenamePlan): Promise<RunPlan | null> {
  const written = [...changes, ...migrations, ...(await lockOf(root, migrations))];
  await withRunLock(root, () => commit(root, written, disk));
  const run = await runPipeline(root, {}, disk);
  if (!hasErrors(run.findings)) return null;
  const back = written.map((each) => ({
    ...each,
    kind: each.kind === 'create' ? ('remove' as const) : ('update' as const),
    before: each.after,
    after: each.before,
  }));
  await withRunLock(root, () => commit(root, back, disk));
  return run;
}

function readRename([from = '', to = '']: readonly string[], project: Project): Rename {
  const [type = '', field] = from.split('.');
  const name = last(to.split('.'));
  if (!/^\w+(\.\w+)?$/.test(from) || !/^[A-Za-z]\w*$/.test(name))
    throw new CommandError('NAMES_MISSING', {
      message: 'rename needs two names',
      fix: 'npm run generator -- rename User.name User.fullName',
    });
  const entity = project.entities.find((each) => each.name === type);
  const known = project.entities.flatMap((each) => [
    each.name,
    ...each.fields.map((one) => `${each.name}.${one.name}`),
  ]);
  if (!known.includes(from)) {
    const near = nearest(from, known);
    throw new CommandError('UNKNOWN_COORDINATE', {
      message: `the schema has no ${from} that is kept in a table`,
      fix: near ? `did you mean ${near}?` : 'generator explain lists everything',
    });
  }
  if (field === undefined) return { kind: 'type', from: type, to: name };
  if (entity!.fields.some((each) => each.name === name))
    throw new CommandError('NAME_TAKEN', { message: `${type} has a field ${name} already` });
  return { kind: 'field', type, from: field, to: name };
}
