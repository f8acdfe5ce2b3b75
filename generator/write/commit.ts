import { join } from 'node:path';
import type { FileChange } from '../files.ts';
import { CommandError, EXIT } from '../failure.ts';
import { type Disk, hasCode } from './disk.ts';
import { hashText } from './lockfile.ts';

/** Our folder in the project: the run lock, a commit under way, rescued texts, the scaffold as we wrote it. */
export const FOLDER = '.generator';

const TRANSACTION = `${FOLDER}/transaction`;
const JOURNAL = `${TRANSACTION}/journal.json`;

/** One step of a commit. `staged` names the file that holds the new text; a step without one removes. */
interface CommitStep {
  readonly path: string;
  readonly before: string | null;
  readonly staged: string | null;
}

interface Commit {
  readonly steps: readonly CommitStep[];
  /** Whether the file of a step has the text that it had when the step was planned. */
  readonly isAsBefore: (text: string | null, step: number) => boolean;
}

/**
 * Writes changes so that every file has its old text or its new one at any moment, and a run that was killed can be
 * finished: new texts are staged, a journal says what goes where, then each file is renamed into its place.
 *
 * @throws CommandError 75 when a file is not as it was when the changes were planned; nothing is written then.
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
    if (staged !== null) await disk.write(join(root, staged), writing[index]!.after!);
  await writeJournal(root, steps, disk);
  await carryOut(root, { steps, isAsBefore: (text, at) => text === writing[at]!.before }, disk);
}

/**
 * Finishes or forgets what a killed run left behind. With a journal every step is carried out; without one nothing was
 * touched yet and the staged texts are dropped.
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
  for (const { path, before } of changes) {
    if ((await disk.read(join(root, path))) === before) continue;
    throw new CommandError(
      EXIT.again,
      'CHANGED_MEANWHILE',
      `${path} was changed while this run was at work; nothing was written`,
      'run again',
    );
  }
}

function stepOf(change: FileChange, index: number): CommitStep {
  const staged = change.after === null ? null : `${TRANSACTION}/${index}`;
  return { path: change.path, before: hashOf(change.before), staged };
}

/** The journal appears whole or not at all: it is renamed into its place. */
async function writeJournal(root: string, steps: readonly CommitStep[], disk: Disk): Promise<void> {
  await disk.write(join(root, `${JOURNAL}.part`), JSON.stringify(steps));
  await disk.rename(join(root, `${JOURNAL}.part`), join(root, JOURNAL));
}

/** Leaves files alone that the user saved after the journal was written. */
async function carryOut(root: string, { steps, isAsBefore }: Commit, disk: Disk): Promise<void> {
  for (const [at, step] of steps.entries())
    if (isAsBefore(await disk.read(join(root, step.path)), at))
      await carryOutStep(root, step, disk);
  // The journal goes first: a folder that is only half removed must not look like a commit under way.
  await disk.remove(join(root, JOURNAL));
  await disk.removeFolder(join(root, TRANSACTION));
}

async function carryOutStep(root: string, step: CommitStep, disk: Disk): Promise<void> {
  const target = join(root, step.path);
  if (step.staged === null) return disk.remove(target);
  try {
    await disk.rename(join(root, step.staged), target);
  } catch (error) {
    // The killed run had moved the staged file to its place already, and the user has changed the target back since.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function hashOf(text: string | null): string | null {
  return text === null ? null : hashText(text);
}
