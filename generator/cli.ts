import { parseArguments } from './cli/arguments.ts';
import { commandHelp, overview } from './cli/help.ts';
import { commands } from './cli/commands.ts';
import { createTerminal, type Terminal } from './cli/terminal.ts';
import { explainFailure } from './cli/explain-failure.ts';
import { EXIT, type ExitCode } from './failure.ts';

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
  const { command, options, positionals, help, version } = await parseArguments(argv, commands);
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
