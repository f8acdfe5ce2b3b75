import { join } from 'node:path';
import type { Change } from '../files.ts';
import { CommandError, EXIT } from '../failure.ts';
import { type Disk, hasCode } from './disk.ts';
import { hashText } from './lockfile.ts';

/** Our folder in the project: the run lock, a commit under way, rescued texts, the scaffold as we wrote it. */
export const FOLDER = '.generator';

const TRANSACTION = `${FOLDER}/transaction`;
const JOURNAL = `${TRANSACTION}/journal.json`;

/** One step of a commit. `staged` names the file that holds the new text; a step without one removes. */
interface Step {
  readonly path: string;
  readonly before: string | null;
  readonly staged: string | null;
}

/**
 * Writes changes so that every file has its old text or its new one at any moment, and a run that was killed can be
 * finished: new texts are staged, a journal says what goes where, then each file is renamed into its place.
 *
 * @throws CommandError 75 when a file is not as it was when the changes were planned; nothing is written then.
 */
export async function commit(root: string, changes: readonly Change[], disk: Disk): Promise<void> {
  const writing = changes.filter(({ kind, before, after }) => ['create', 'update', 'remove', 'conflict'].includes(kind) && before !== after);
  if (writing.length === 0) return;
  await assertUnchanged(root, writing, disk);
  await disk.removeFolder(join(root, TRANSACTION));
  const steps = writing.map(stepOf);
  await allDone(writing.map(async ({ after }, index) => {
    const { staged } = steps[index]!;
    if (staged !== null) await disk.write(join(root, staged), after!);
  }));
  await writeJournal(root, steps, disk);
  await carryOut(root, steps, disk);
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
  await carryOut(root, JSON.parse(text) as Step[], disk);
  return true;
}

async function assertUnchanged(root: string, changes: readonly Change[], disk: Disk): Promise<void> {
  const now = await Promise.all(changes.map(({ path }) => disk.read(join(root, path))));
  for (const [index, { path, before }] of changes.entries()) {
    if (now[index] === before) continue;
    throw new CommandError(EXIT.again, 'CHANGED_MEANWHILE', `${path} was changed while this run was at work; nothing was written`, 'run again');
  }
}

function stepOf(change: Change, index: number): Step {
  const staged = change.after === null ? null : `${TRANSACTION}/${index}`;
  return { path: change.path, before: hashOf(change.before), staged };
}

/** The journal appears whole or not at all: it is renamed into its place. */
async function writeJournal(root: string, steps: readonly Step[], disk: Disk): Promise<void> {
  await disk.write(join(root, `${JOURNAL}.part`), JSON.stringify(steps));
  await disk.rename(join(root, `${JOURNAL}.part`), join(root, JOURNAL));
}

async function carryOut(root: string, steps: readonly Step[], disk: Disk): Promise<void> {
  await allDone(steps.map((step) => carryOutStep(root, step, disk)));
  // The journal goes first: a folder that is only half removed must not look like a commit under way.
  await disk.remove(join(root, JOURNAL));
  await disk.removeFolder(join(root, TRANSACTION));
}

/** A file that somebody saved after the journal was written keeps what they saved. */
async function carryOutStep(root: string, step: Step, disk: Disk): Promise<void> {
  const target = join(root, step.path);
  if (hashOf(await disk.read(target)) !== step.before) return;
  if (step.staged === null) return disk.remove(target);
  try {
    await disk.rename(join(root, step.staged), target);
  } catch (error) {
    // Nothing is staged any more: the run that was killed had put it into its place, and somebody changed it back since.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** Nothing is still being written when one of them has failed: the next run may begin then. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
}

function hashOf(text: string | null): string | null {
  return text === null ? null : hashText(text);
}
