import { closest } from './closest.ts';
import { CommandError, EXIT } from '../failure.ts';
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, type OptionValues } from './command.ts';

/** What the command line asks for. */
export interface Arguments {
  readonly command: CommandSpec | null;
  readonly options: OptionValues;
  readonly positionals: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Reads the command line by the table of commands.
 *
 * @throws CommandError 2 on anything that is not in the table, with the nearest thing that is.
 */
export function parseArguments(
  argv: readonly string[],
  commands: readonly CommandSpec[],
): Arguments {
  const words = argv.map((word) => (word === '-h' ? '--help' : word === '-v' ? '--version' : word));
  const name = firstWord(words);
  const command = name === undefined || name === 'help' ? null : findCommand(name, commands);
  const rest = name === undefined ? words : words.toSpliced(words.indexOf(name), 1);
  const specs = [...GLOBAL_OPTIONS, ...(command?.options ?? [])];
  const { options, positionals } = readWords(rest, specs, command);
  if (positionals.length > (command?.positionals ?? 1))
    throw usage('UNEXPECTED_WORD', `unexpected argument ${positionals.at(-1)}`, command);
  const helped =
    name === 'help' && positionals[0] !== undefined
      ? findCommand(positionals[0], commands)
      : command;
  return {
    command: helped,
    options,
    positionals,
    help: options['help'] === true || name === 'help',
    version: options['version'] === true,
  };
}

/** The first word that is neither an option nor the value of `--cwd`. */
function firstWord(words: readonly string[]): string | undefined {
  return words.find((word, at) => !word.startsWith('-') && words[at - 1] !== '--cwd');
}

function findCommand(name: string, commands: readonly CommandSpec[]): CommandSpec {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const near = closest(
    name,
    commands.map((command) => command.name),
  );
  throw new CommandError(
    EXIT.usage,
    'UNKNOWN_COMMAND',
    `unknown command ${name}`,
    near ? `did you mean ${near}?` : 'generator --help lists the commands',
  );
}

function readWords(
  words: readonly string[],
  specs: readonly OptionSpec[],
  command: CommandSpec | null,
): { options: OptionValues; positionals: string[] } {
  const options: Record<string, string | boolean | string[]> = {};
  const positionals: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (!word.startsWith('-')) {
      positionals.push(word);
      continue;
    }
    const [flag = '', inline] = word.split(/=(.*)/s);
    const spec = findOption(flag, specs, command);
    const value = spec.value === undefined ? true : (inline ?? words[++at]);
    if (value === undefined || (spec.value === undefined && inline !== undefined)) {
      throw usage(
        'OPTION_VALUE',
        spec.value === undefined
          ? `${flag} takes no value`
          : `${flag} needs a value: ${flag} ${spec.value}`,
        command,
      );
    }
    checkChoice(flag, value, spec, command);
    options[spec.name] = spec.many
      ? [...((options[spec.name] as string[] | undefined) ?? []), String(value)]
      : value;
  }
  return { options, positionals };
}

function findOption(
  flag: string,
  specs: readonly OptionSpec[],
  command: CommandSpec | null,
): OptionSpec {
  const found = specs.find((spec) => `--${spec.name}` === flag);
  if (found) return found;
  const near = closest(
    flag,
    specs.filter((spec) => !spec.hidden).map((spec) => `--${spec.name}`),
  );
  throw new CommandError(
    EXIT.usage,
    'UNKNOWN_OPTION',
    `unknown option ${flag}`,
    near ? `did you mean ${near}?` : helpOf(command),
  );
}

function checkChoice(
  flag: string,
  value: string | boolean,
  { choices }: OptionSpec,
  command: CommandSpec | null,
): void {
  if (choices && !choices.includes(String(value)))
    throw usage('OPTION_VALUE', `${flag} is one of ${choices.join(', ')}`, command);
}

function usage(code: string, message: string, command: CommandSpec | null): CommandError {
  return new CommandError(EXIT.usage, code, message, helpOf(command));
}

function helpOf(command: CommandSpec | null): string {
  return `generator ${command ? `${command.name} ` : ''}--help`;
}
