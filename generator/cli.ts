import { parseArguments } from './cli/arguments.ts';
import { commandHelp, overview } from './cli/help.ts';
import { commands } from './cli/commands.ts';
import { createTerminal, type Terminal } from './cli/terminal.ts';
import { CommandError, EXIT, type ExitCode } from './failure.ts';

/**
 * Runs one command. Standard output is data, standard error is everything else.
 *
 * @returns the exit code.
 */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  // These flags are read before the arguments are parsed, so that a wrong command line is also
  // reported as JSON if `--json` is given.
  const flags = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const plain = createTerminal({
    json: flags.includes('--json'),
    quiet: flags.includes('--quiet'),
    color: !flags.includes('--no-color'),
  });
  try {
    return await dispatch(argv, plain);
  } catch (error) {
    return explainFailure(error, plain);
  }
}

async function dispatch(argv: readonly string[], plain: Terminal): Promise<ExitCode> {
  const { command, options, positionals, help, version } = parseArguments(argv, commands);
  if (version)
    return (plain.data(`${(await import('./version.ts')).packageVersion()}\n`), EXIT.done);
  if (!command) return (plain.data(overview(commands)), help ? EXIT.done : EXIT.usage);
  if (help) return (plain.data(commandHelp(command)), EXIT.done);
  const { run } = await command.load();
  return run({
    options,
    positionals,
    commands,
    terminal: plain,
    cwd: typeof options['cwd'] === 'string' ? options['cwd'] : process.cwd(),
  });
}

/** An expected failure says what to do; any other error is a bug of the generator. */
function explainFailure(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommandError) {
    const { exitCode, code, message, fix, details } = error;
    if (terminal.json)
      terminal.document({
        ok: false,
        error: { ...details, code, message, ...(fix !== undefined && { fix }) },
      });
    else
      terminal.say(
        `${terminal.paint.red('error')}  ${code}  ${message}${fix === undefined ? '' : `\n   fix  ${fix}`}`,
      );
    return exitCode;
  }
  const text = systemFailure(error);
  if (text !== null) {
    if (terminal.json) terminal.document({ ok: false, error: { code: 'SYSTEM', message: text } });
    else terminal.say(`${terminal.paint.red('error')}  ${text}`);
    return EXIT.usage;
  }
  if (terminal.json)
    terminal.document({ ok: false, error: { code: 'BUG', message: String(error) } });
  terminal.say(
    `This is a bug of ours. Please report it where you have the generator from, with the lines below.\n${error instanceof Error ? error.stack : String(error)}`,
  );
  return EXIT.bug;
}

const SYSTEM: Readonly<Record<string, string>> = {
  EACCES: 'is not allowed',
  EPERM: 'is not allowed',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the disk is full',
  EFBIG: 'cannot be written: it is larger than the system allows',
  EISDIR: 'is a folder where a file belongs',
  ENOTDIR: 'is a file where a folder belongs',
  EEXIST: 'is there already',
};

/** The refusal of the operating system as a sentence; null when the error is not a system error. */
function systemFailure(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  const nowhere =
    error.syscall === 'mkdir' && error.code === 'ENOENT'
      ? 'cannot be made: this place takes no new folders'
      : undefined;
  const what = nowhere ?? SYSTEM[String(error.code)] ?? `failed (${String(error.code)})`;
  return `${'path' in error ? String(error.path) : error.syscall === 'write' ? 'a file' : String(error.syscall)} ${what}`;
}
