import { nearest } from '@twofold/schema';
import { join, resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { run as runPipeline } from '../pipeline.ts';
import { askProject } from '../run-project.ts';
import { commit } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { withRunLock } from '../write/run-lock.ts';

const COMMANDS = ['list', 'preview', 'eject'] as const;

interface Row {
  readonly kind: string;
  readonly text: 'yours' | 'built-in';
  readonly file: string | null;
}

/** The result of the runtime. */
type Report =
  | { readonly ok: true; readonly mails: readonly Row[] }
  | { readonly ok: true; readonly subject: string; readonly text: string; readonly html: string }
  | { readonly ok: true; readonly path: string; readonly source: string }
  | { readonly ok: false; readonly unknown: readonly string[] }
  | { readonly ok: false; readonly refused: string };

/**
 * `generator mails [preview|eject KIND]`: the mails that the server sends, and whose text each has.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [command = 'list', kind] = call.positionals;
  if (!(COMMANDS as readonly string[]).includes(command))
    throw usage(`mails has no command ${command}: one of ${COMMANDS.join(', ')}`);
  if (command !== 'list' && kind === undefined) throw usage(`mails ${command} needs a kind`);
  const root = resolve(call.cwd);
  const { locale } = call.options;
  const report = await askProject<Report>(root, 'mailsApp', { input: { command, kind, locale } });
  if ('unknown' in report) throw unknownKind(kind ?? '', report.unknown);
  if (!report.ok)
    throw new CommandError('MAILS_ABSENT', { message: report.refused, exit: EXIT.invalid });
  if ('source' in report) return eject(call, root, report);
  if (call.terminal.json) call.terminal.document(report);
  else call.terminal.data('mails' in report ? table(report.mails) : preview(report, call));
  return EXIT.done;
}

function table(mails: readonly Row[]): string {
  const width = Math.max(...mails.map(({ kind }) => kind.length));
  return mails.map(({ kind, text, file }) => `${kind.padEnd(width)}  ${file ?? text}\n`).join('');
}

function preview(
  { subject, text, html }: { subject: string; text: string; html: string },
  { options }: CommandCall,
): string {
  return options['html'] ? html : `Subject: ${subject}\n\n${text}`;
}

/** Writes the file, and generates again, because `app.ts` imports it. An existing file is kept. */
async function eject(
  { terminal }: CommandCall,
  root: string,
  { path, source }: { readonly path: string; readonly source: string },
): Promise<ExitCode> {
  if ((await disk.read(join(root, path))) !== null)
    throw new CommandError('ALREADY_YOURS', { message: `${path} exists already` });
  await withRunLock(root, () =>
    commit(root, [{ path, owner: 'user', kind: 'create', before: null, after: source }], disk),
  );
  await runPipeline(root, {}, disk);
  if (terminal.json) terminal.document({ ok: true, path });
  else terminal.note(`  new  ${path}`);
  return EXIT.done;
}

function unknownKind(kind: string, kinds: readonly string[]): CommandError {
  const near = nearest(kind, kinds);
  return new CommandError('MAIL_UNKNOWN', {
    message: `there is no mail ${kind}; the kinds are ${kinds.join(', ')}`,
    fix: near ? `npm run generator -- mails preview ${near}` : undefined,
  });
}

function usage(message: string): CommandError {
  return new CommandError('MAILS_WORDS', { message, fix: 'npm run generator -- mails --help' });
}
