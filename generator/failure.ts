/** The exit codes of the process; `docs/commands.md` explains them. */
export const EXIT = {
  done: 0,
  differs: 1,
  usage: 2,
  invalid: 3,
  conflict: 4,
  ambiguous: 5,
  bug: 70,
  again: 75,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * A failure that the user can act on: its message says how.
 *
 * @example
 * throw new CommandError('UNKNOWN_OPTION', 'unknown option --forse', 'did you mean --force?');
 */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  /** Stable, upper snake case. */
  readonly code: string;
  readonly fix: string | undefined;
  /** Further members of the error in `--json`. */
  readonly details: Readonly<Record<string, unknown>> = {};

  constructor(code: string, message: string, fix?: string, exitCode: ExitCode = EXIT.usage) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.code = code;
    this.fix = fix;
  }
}
