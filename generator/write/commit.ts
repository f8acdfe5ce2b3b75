import { join } from 'node:path';
import { FOLDER, type FileChange } from '../files.ts';
import { CommandError, EXIT } from '../failure.ts';
import { hasCode, type Disk, type TextEncoding } from './disk.ts';
import { hashText } from './lockfile.ts';

const TRANSACTION = `${FOLDER}/transaction`;
const JOURNAL = `${TRANSACTION}/journal.json`;

/**
 * One step of a commit. `staged` names the file with the new text; a step without it removes the
 * target.
 */
interface CommitStep {
  readonly path: string;
  readonly before: string | null;
  readonly staged: string | null;
  readonly binary?: boolean;
}

interface Commit {
  readonly steps: readonly CommitStep[];
  /** Whether the file of a step still has the text from when the step was planned. */
  readonly isAsBefore: (text: string | null, step: number) => boolean;
}

/**
 * Writes changes so that every file has its old or its new text at any moment, and the next run can
 * finish what a killed run began: new texts are staged, a journal lists their targets, then each
 * file is renamed into its place.
 *
 * @throws CommandError 75 when a file has changed since the changes were planned; nothing is
 * written then.
 */
export async function commit(
  root: string,
  changes: readonly FileChange[],
  disk: Disk,
): Promise<void> {
  const writing = changes.filter(
    ({ kind, before, after }) =>
      ['create', 'update', 'remove', 'conflict'].includes(kind) && before !== after,
  );
  if (writing.length === 0) return;
  await assertUnchanged(root, writing, disk);
  await disk.removeFolder(join(root, TRANSACTION));
  const steps = writing.map(stepOf);
  for (const [index, { staged }] of steps.entries())
    if (staged !== null) await writeStaged(join(root, staged), writing[index]!, disk);
  await writeJournal(root, steps, disk);
  await carryOut(root, { steps, isAsBefore: (text, at) => text === writing[at]!.before }, disk);
}

/**
 * Finishes or discards the commit of a killed run. If there is a journal, all its steps are done;
 * without one no file was changed yet, and the staged texts are removed.
 *
 * @returns whether there was something to finish.
 */
export async function recover(root: string, disk: Disk): Promise<boolean> {
  const text = await disk.read(join(root, JOURNAL));
  if (text === null) {
    const left = await disk.list(join(root, TRANSACTION));
    if (left.length > 0) await disk.removeFolder(join(root, TRANSACTION));
    return false;
  }
  const steps = JSON.parse(text) as CommitStep[];
  await carryOut(root, { steps, isAsBefore: (now, at) => hashOf(now) === steps[at]!.before }, disk);
  return true;
}

async function assertUnchanged(
  root: string,
  changes: readonly FileChange[],
  disk: Disk,
): Promise<void> {
  for (const { path, before, binary } of changes) {
    if ((await disk.read(join(root, path), encodingOf(binary))) === before) continue;
    throw new CommandError('CHANGED_MEANWHILE', {
      message: `${path} was changed while this run was at work; nothing was written`,
      fix: 'run again',
      exit: EXIT.again,
    });
  }
}

function stepOf(change: FileChange, index: number): CommitStep {
  const staged = change.after === null ? null : `${TRANSACTION}/${index}`;
  const { path, binary } = change;
  return { path, before: hashOf(change.before), staged, ...(binary && { binary }) };
}

const writeStaged = (path: string, { after, binary }: FileChange, disk: Disk): Promise<void> =>
  disk.write(path, after!, undefined, encodingOf(binary));

const encodingOf = (binary: boolean | undefined): TextEncoding => (binary ? 'latin1' : 'utf8');

/** Renames the complete journal into place, so that it never exists in part. */
async function writeJournal(root: string, steps: readonly CommitStep[], disk: Disk): Promise<void> {
  await disk.write(join(root, `${JOURNAL}.part`), JSON.stringify(steps));
  await disk.rename(join(root, `${JOURNAL}.part`), join(root, JOURNAL));
}

/** Does all steps, except for files that the user saved after the journal was written. */
async function carryOut(root: string, { steps, isAsBefore }: Commit, disk: Disk): Promise<void> {
  for (const [at, step] of steps.entries())
    if (isAsBefore(await disk.read(join(root, step.path), encodingOf(step.binary)), at))
      await carryOutStep(root, step, disk);
  // The journal is removed first: a partly removed folder must not look like an unfinished commit.
  await disk.remove(join(root, JOURNAL));
  await disk.removeFolder(join(root, TRANSACTION));
}

async function carryOutStep(root: string, step: CommitStep, disk: Disk): Promise<void> {
  const target = join(root, step.path);
  if (step.staged === null) return disk.remove(target);
  try {
    await disk.rename(join(root, step.staged), target);
  } catch (error) {
    // The killed run had already moved the staged file, and the user has changed the target back
    // since.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function hashOf(text: string | null): string | null {
  return text === null ? null : hashText(text);
}
