import { parseArgs } from 'node:util';
import { CommandError } from '../failure.ts';
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, type OptionValues } from './command.ts';

/** The parsed command line. */
export interface CommandLine {
  readonly command: CommandSpec | null;
  readonly options: OptionValues;
  readonly positionals: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
}

type ArgumentToken = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type OptionToken = Extract<ArgumentToken, { kind: 'option' }>;

/**
 * Reads the command line by the table of commands. Node's `parseArgs` only splits the words
 * (`--name=value`, `-h`, `--`): it cannot check choices or suggest a spelling, so its result is
 * compared with the table here.
 *
 * @throws CommandError 2 on anything that is not in the table, with the nearest name that is.
 */
export async function parseArguments(
  argv: readonly string[],
  commands: readonly CommandSpec[],
): Promise<CommandLine> {
  const name = wordsOf(tokensOf(argv, GLOBAL_OPTIONS))[0];
  const command = name === undefined || name === 'help' ? null : await findCommand(name, commands);
  const specs = [...GLOBAL_OPTIONS, ...(command?.options ?? [])];
  const tokens = tokensOf(argv, specs);
  const options = await readOptions(tokens, specs, command);
  const positionals = wordsOf(tokens).slice(name === undefined ? 0 : 1);
  if (positionals.length > (command?.positionals ?? 1))
    throw usage('UNEXPECTED_WORD', `unexpected argument ${positionals.at(-1)}`, command);
  const helped =
    name === 'help' && positionals[0] !== undefined
      ? await findCommand(positionals[0], commands)
      : command;
  return {
    command: helped,
    options,
    positionals,
    help: options['help'] === true || name === 'help',
    version: options['version'] === true,
  };
}

function tokensOf(argv: readonly string[], specs: readonly OptionSpec[]): readonly ArgumentToken[] {
  const options = Object.fromEntries(
    specs.map(({ name, value, short }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', ...(short && { short }) } as const,
    ]),
  );
  return parseArgs({ args: [...argv], options, strict: false, tokens: true }).tokens;
}

function wordsOf(tokens: readonly ArgumentToken[]): string[] {
  return tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
}

async function findCommand(name: string, commands: readonly CommandSpec[]): Promise<CommandSpec> {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const near = await nearestOf(
    name,
    commands.map((command) => command.name),
  );
  throw new CommandError('UNKNOWN_COMMAND', {
    message: `unknown command ${name}`,
    fix: near ? `did you mean ${near}?` : 'generator --help lists the commands',
  });
}

/** Loaded here: a command line without a mistake needs no schema. */
async function nearestOf(word: string, names: readonly string[]): Promise<string | undefined> {
  const { nearest } = await import('@twofold/schema');
  return nearest(word, names);
}

async function readOptions(
  tokens: readonly ArgumentToken[],
  specs: readonly OptionSpec[],
  command: CommandSpec | null,
): Promise<OptionValues> {
  const options: Record<string, string | boolean | string[]> = {};
  for (const token of tokens.filter(({ kind }) => kind === 'option') as OptionToken[]) {
    const spec = await findOption(token, specs, command);
    const value = valueOf(token, spec, command);
    options[spec.name] = spec.many
      ? [...((options[spec.name] as string[] | undefined) ?? []), String(value)]
      : value;
  }
  return options;
}

async function findOption(
  { name, rawName }: OptionToken,
  specs: readonly OptionSpec[],
  command: CommandSpec | null,
): Promise<OptionSpec> {
  const found = specs.find((spec) => spec.name === name);
  if (found) return found;
  const near = await nearestOf(
    rawName,
    specs.filter((spec) => !spec.hidden).map((spec) => `--${spec.name}`),
  );
  throw new CommandError('UNKNOWN_OPTION', {
    message: `unknown option ${rawName}`,
    fix: near ? `did you mean ${near}?` : helpOf(command),
  });
}

function valueOf(
  { rawName, value, inlineValue }: OptionToken,
  spec: OptionSpec,
  command: CommandSpec | null,
): string | true {
  if (spec.value === undefined) {
    if (value !== undefined) throw usage('OPTION_VALUE', `${rawName} takes no value`, command);
    return true;
  }
  // `--template --force` is a value that was forgotten; one that begins with a dash is written
  // `--name=-x`.
  if (value === undefined || (!inlineValue && /^-./.test(value)))
    throw usage('OPTION_VALUE', `${rawName} needs a value: ${rawName} ${spec.value}`, command);
  if (spec.choices && !spec.choices.includes(value))
    throw usage('OPTION_VALUE', `${rawName} is one of ${spec.choices.join(', ')}`, command);
  return value;
}

function usage(code: string, message: string, command: CommandSpec | null): CommandError {
  return new CommandError(code, { message, fix: helpOf(command) });
}

function helpOf(command: CommandSpec | null): string {
  return `generator ${command ? `${command.name} ` : ''}--help`;
}
