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

interface Failing {
  readonly message: string;
  readonly fix?: string | undefined;
  /** A wrong use of the command, unless it says otherwise. */
  readonly exit?: ExitCode;
  /** Further members of the error in `--json`. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * A failure that the user can act on: its message says how.
 *
 * @example
 * throw new CommandError('UNKNOWN_OPTION', { message: 'unknown option --forse', fix: 'did you mean --force?' });
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  /** Stable, upper snake case. */
  readonly code: string;
  readonly fix: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, { message, fix, exit = EXIT.usage, details = {} }: Failing) {
    super(message);
    this.exitCode = exit;
    this.code = code;
    this.fix = fix;
    this.details = details;
  }
}
