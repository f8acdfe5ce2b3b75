import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { readProjectOf } from '../read-project.ts';
import { askProject } from '../run-project.ts';

/** The result of the runtime. */
type LinkReport =
  | { readonly ok: true; readonly link: string }
  | { readonly ok: false; readonly reason: 'absent' | 'closed' | 'host' | 'memory' };

/** Why there is no link, and what to do instead. */
const REASONS: Readonly<Record<Extract<LinkReport, { ok: false }>['reason'], [string, string]>> = {
  absent: [
    'the manifest has no console',
    'add "console: {}" to manifest.yaml, then npm run generate && npm install',
  ],
  closed: [
    'the console is closed here: console.enabled in manifest.yaml is never, or it is development and NODE_ENV is production',
    'to open it, write console: { enabled: always } in manifest.yaml, then npm run generate',
  ],
  host: [
    'the operator may not enter: console.host in manifest.yaml is false',
    'sign in as a user with one of console.roles, or set host: true',
  ],
  memory: [
    'DATABASE_URL is :memory:, a database that only the running server has',
    'take the link that the server logs at its start',
  ],
};

/**
 * `generator console`: prints a link that signs the operator in to the console, for a person who can
 * read the settings and the database of the project.
 */
export async function run({ cwd, options, terminal }: CommandCall): Promise<ExitCode> {
  const root = resolve(cwd);
  const { project } = await readProjectOf(root);
  // The runtime knows this too, but a project without a console has not installed what answers.
  if (project?.console === null) throw refused('absent');
  const report = await askProject<LinkReport>(root, 'linkApp', { input: { client: 'console' } });
  if (!report.ok) throw refused(report.reason);
  const { link } = report;
  const running = await answers(link);
  if (terminal.json) terminal.document({ ok: true, link, running });
  else terminal.data(`${link}\n`);
  if (!running)
    terminal.note(
      `${terminal.paint.yellow('not running')}  ${new URL(link).origin} does not answer: ` +
        'npm start, then open the link within 10 minutes',
    );
  if (options['open'] === true) openBrowser(link, (problem) => terminal.say(problem));
  return EXIT.done;
}

function refused(reason: keyof typeof REASONS): CommandError {
  const [message, fix] = REASONS[reason];
  return new CommandError(`CONSOLE_${reason.toUpperCase()}`, { message, fix });
}

/** Milliseconds that the server has to answer. */
const ANSWER_TIMEOUT = 2000;

/** Whether a server answers at the address of the link. */
async function answers(link: string): Promise<boolean> {
  const { origin } = new URL(link);
  try {
    await fetch(`${origin}/api/health`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT) });
    return true;
  } catch {
    return false;
  }
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  // `start` takes its first quoted word for a title.
  win32: ['cmd', '/c', 'start', '""'],
};

/** Opens the link with the program that the desktop has for links. */
function openBrowser(link: string, report: (problem: string) => void): void {
  const [program = '', ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...words, link], { stdio: 'ignore', detached: true });
  child.once('error', () => report(`no browser was found (${program}): open the link yourself`));
  child.unref();
}
