import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import type { BackupHead } from '@twofold/runtime/kernel';
import type { CommandCall } from '../cli/command.ts';
import { checkArchive } from '../db/read-archive.ts';
import { PRIVATE, writeArchive } from '../db/write-archive.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { type Answer, askDatabase } from '../run-project.ts';
import { makeFolder } from '../write/disk.ts';

/** `generator db backup [FILE] | restore FILE | copy --from URL --to URL` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [step, file] = call.positionals;
  if (step === 'backup') return backup(call, file);
  if (step === 'restore') return restore(call, file);
  if (step === 'copy') return copy(call, file);
  throw new CommandError('UNKNOWN_STEP', {
    message: step === undefined ? 'generator db needs a step' : `unknown step ${step}`,
    fix: 'one of backup, restore, copy',
  });
}

const STDOUT = '-';

async function backup(call: CommandCall, file: string | undefined): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const target = file === STDOUT ? null : resolve(root, file ?? defaultFile(root));
  const part = target === null ? null : `${target}.part`;
  let head: BackupHead | undefined;
  const opened = part === null ? null : await openFile(part);
  try {
    const report = await askDatabase(root, 'backup', {
      input: { database: call.options['database'] },
      onProgress: (text) => call.terminal.note(text),
      channel: async (channel: Duplex) => {
        const out = opened?.createWriteStream() ?? process.stdout;
        const spool = target === null ? tmpdir() : dirname(target);
        head = await writeArchive(channel, { out, spool });
      },
    });
    if (part !== null) await rename(part, target!);
    reportBackup(call, target, { ...report, tables: head!.tables });
    return EXIT.done;
  } catch (error) {
    if (part !== null) await unlink(part).catch(() => {});
    throw error;
  }
}

/** With its folder, so that a path that cannot be written is said before a row is read. */
async function openFile(path: string): Promise<FileHandle> {
  try {
    makeFolder(dirname(path));
    return await open(path, 'w', PRIVATE);
  } catch (error) {
    throw new CommandError('FILE_UNWRITABLE', {
      message: `the backup cannot be written: ${(error as Error).message}`,
      fix: 'npm run generator -- db backup FILE, with a file that this user may write',
    });
  }
}

const defaultFile = (root: string) =>
  `${basename(root)}-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.twofold.tgz`;

function reportBackup(
  { terminal }: CommandCall,
  target: string | null,
  { tables, left }: Answer<'backup'>,
): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (terminal.json && target !== null)
    return terminal.document({ ok: true, file: target, tables, left });
  terminal.note(
    `${terminal.paint.green('backed up')}  ${rows} rows of ${tables.length} tables${target === null ? '' : ` to ${target}`}`,
  );
  noteLeft(terminal, left);
}

function noteLeft(terminal: CommandCall['terminal'], left: readonly string[]): void {
  if (left.length > 0)
    terminal.note(`not copied, because the schema does not know them: ${left.join(', ')}`);
}

async function restore(call: CommandCall, file: string | undefined): Promise<ExitCode> {
  const root = resolve(call.cwd);
  if (file === undefined)
    throw new CommandError('FILE_MISSING', { message: 'restore needs the file of a backup' });
  const archive = await checkArchive(resolve(root, file));
  const { database, replace, confirm } = call.options;
  const report = await askDatabase(root, 'restore', {
    input: { database, replace, confirm },
    onProgress: (text) => call.terminal.note(text),
    channel: archive.send,
  });
  return reportMove(call, report);
}

async function copy(call: CommandCall, word: string | undefined): Promise<ExitCode> {
  const { from, to, replace, confirm } = call.options;
  if (word !== undefined || from === undefined || to === undefined)
    throw new CommandError('URL_MISSING', {
      message: 'copy needs both databases',
      fix: 'generator db copy --from URL --to URL',
    });
  const report = await askDatabase(resolve(call.cwd), 'copy', {
    input: { from, to, replace, confirm },
    onProgress: (text) => call.terminal.note(text),
  });
  return reportMove(call, report);
}

/** A difference means that the target was left as it was. */
function reportMove(
  { terminal }: CommandCall,
  report: Answer<'restore'> & Partial<Answer<'copy'>>,
): ExitCode {
  const { ok, tables, pending, left = [] } = report;
  if (terminal.json) terminal.document({ ok, tables, pending, left });
  else if (ok)
    terminal.note(
      `${terminal.paint.green('written')}  ${tables.reduce((sum, { rows }) => sum + rows, 0)} rows of ${tables.length} tables, ` +
        'equal on both sides',
    );
  else
    terminal.say(
      `${terminal.paint.red('error')}  not equal after writing: ${tables
        .filter(({ equal }) => !equal)
        .map(({ name }) => name)
        .join(', ')}; the target is as before`,
    );
  if (pending.length > 0)
    terminal.note(
      `newer than the rows, and not applied yet: ${pending.join(', ')}: npm run migrate`,
    );
  if (!terminal.json) noteLeft(terminal, left);
  return ok ? EXIT.done : EXIT.differs;
}
