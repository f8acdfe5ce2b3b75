import type { ExitCode } from '../failure.ts';
import type { AskProject } from '../run-project.ts';
import type { Terminal } from './terminal.ts';

/**
 * One option of a command. `value` is the placeholder of its value; an option without one is a
 * switch.
 */
export interface OptionSpec {
  readonly name: string;
  readonly value?: string;
  /** The letter of its short form: `-h`. */
  readonly short?: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly many?: boolean;
  readonly about: string;
  /** Not shown by `--help`. */
  readonly hidden?: boolean;
}

export interface CommandSpec {
  readonly name: string;
  /** The arguments in the usage line, after the name: `[DIR]`. */
  readonly usage: string;
  readonly about: string;
  readonly options: readonly OptionSpec[];
  /** The largest number of positional arguments. */
  readonly positionals: number;
  /** The possible values of the first positional argument, where they are fixed: for completion. */
  readonly words?: readonly string[];
  readonly example: string;
  /** Loads the modules of the command only when it runs. */
  readonly load: () => Promise<{ run: (call: CommandCall) => Promise<ExitCode> }>;
}

export type OptionValues = Readonly<
  Record<string, string | boolean | readonly string[] | undefined>
>;

export interface CommandCall {
  readonly options: OptionValues;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
  /** The project's folder. */
  readonly cwd: string;
  /** The table of commands that has this command as a row. */
  readonly commands: readonly CommandSpec[];
  /** Asks the project in a process that is kept; absent: each question has a process. */
  readonly ask?: AskProject;
}

/** Options of every command. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: 'cwd', value: 'DIR', about: 'the project, if it is not the current folder' },
  { name: 'json', about: 'one JSON document on standard output' },
  { name: 'quiet', about: 'only findings and failures' },
  { name: 'no-color', about: 'no colours' },
  { name: 'help', short: 'h', about: 'this text' },
  { name: 'version', short: 'v', about: 'the version', hidden: true },
];

// Options that several commands have.

/** Option of the commands that make or apply migrations. */
export const ALLOW_LOSS: OptionSpec = {
  name: 'allow-loss',
  value: 'COORDINATE',
  many: true,
  about: 'a column whose values may lose a part when its type changes: Post.rating',
};

export const CONFIRM: OptionSpec = {
  name: 'confirm',
  value: 'NAME',
  about: 'the name of a guarded database that may lose values',
};

export const HINTS = {
  name: 'hints',
  about: 'show every hint in full, those of the last run too',
} as const;

/** Option of the commands that write the files of front ends. */
export const NO_CLIENT: OptionSpec = {
  name: 'no-client',
  about: 'leave the files and documents of client: alone, on a machine without the front end',
};
