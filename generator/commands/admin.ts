import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { askProject } from '../run-project.ts';

const COMMANDS = ['create', 'grant', 'link'] as const;

/** The result of the runtime, or the reason why it failed. */
type AdminReport =
  | { readonly ok: true; readonly link?: string; readonly text: string }
  | { readonly ok: false; readonly refused: string };

/**
 * `generator admin create|grant|link`: makes accounts with every permission, from the command line
 * of the server.
 */
export async function run({ cwd, options, positionals, terminal }: CommandCall): Promise<ExitCode> {
  const [command = ''] = positionals;
  const [email, role] = [options['email'], options['role']];
  if (!(COMMANDS as readonly string[]).includes(command))
    throw usage(`admin needs one of ${COMMANDS.join(', ')}`);
  if (command !== 'link' && email === undefined) throw usage(`admin ${command} needs --email`);
  if (command === 'grant' && role === undefined) throw usage('admin grant needs --role');
  const report = await askProject<AdminReport>(resolve(cwd), 'adminApp', {
    input: { command, email, role },
  });
  if (!report.ok)
    throw new CommandError('ADMIN_REFUSED', { message: report.refused, exit: EXIT.invalid });
  if (terminal.json) terminal.document(report);
  else terminal.data(`${report.text}\n`);
  return EXIT.done;
}

function usage(message: string): CommandError {
  return new CommandError('ADMIN_WORDS', { message, fix: 'npm run generator -- admin --help' });
}
