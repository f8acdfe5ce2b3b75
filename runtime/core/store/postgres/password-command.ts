import { exec } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../config/log.ts';
import { ConfigError } from '../../errors.ts';

const FRESH = 60_000;
const TIME_LIMIT = 10_000;
/** A rotation takes a moment between the database and the place that the command reads. */
const ROTATES_WITHIN = 5_000;
const ASK_AGAIN = 200;

/**
 * The password that a command prints. It is run when a connection is made, unless its last answer is
 * younger than a minute and was not refused.
 */
export class PasswordCommand {
  readonly #command: string;
  readonly #log: Logger | undefined;
  #answer: Promise<string> | undefined;
  #kept: string | undefined;
  #at = -Infinity;
  #worked = false;

  constructor(command: string, log?: Logger) {
    this.#command = command;
    this.#log = log;
  }

  current(): Promise<string> {
    if (performance.now() - this.#at > FRESH) this.#answer = undefined;
    return (this.#answer ??= this.#run());
  }

  accepted(): void {
    this.#worked = true;
  }

  /**
   * @param since when the first of its answers was refused.
   * @returns whether another try is worth it, as the answer is now another or may become one.
   */
  async refused(password: string | undefined, since: number): Promise<boolean> {
    if (this.#kept === password) this.#answer = undefined;
    if ((await this.current()) !== password) return true;
    if (!this.#worked || performance.now() - since > ROTATES_WITHIN) return false;
    await pause(ASK_AGAIN);
    return true;
  }

  #run(): Promise<string> {
    this.#at = performance.now();
    return new Promise((resolve, reject) =>
      exec(this.#command, { timeout: TIME_LIMIT, killSignal: 'SIGKILL' }, (error, out, errors) => {
        const [line = ''] = out.split(/\r?\n/);
        if (!error && line !== '') return resolve((this.#kept = line));
        this.#answer = undefined;
        const problem = failed(error, errors);
        if (this.#kept === undefined) return reject(new ConfigError([problem]));
        this.#log?.warn(`${problem}: its last answer is used on`);
        resolve(this.#kept);
      }),
    );
  }
}

/** The output may be a password, so only the exit code and the errors are told. */
function failed(error: { code?: unknown; killed?: boolean } | null, errors: string): string {
  const ended = error?.killed ? 'took longer than 10 s' : `ended with ${String(error?.code)}`;
  return `DATABASE_PASSWORD_COMMAND ${error ? ended : 'printed nothing'}: ${errors.trim()}`;
}

const commands = new Map<string, PasswordCommand>();

/** All connections of a process ask one and the same. */
export function passwordFrom(command: string, log?: Logger): PasswordCommand {
  const known = commands.get(command) ?? new PasswordCommand(command, log);
  commands.set(command, known);
  return known;
}
