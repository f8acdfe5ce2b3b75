import { createPaint, type Paint } from '../report.ts';

/** The descriptor of standard error, for the log of a server where standard output is data. */
export const STANDARD_ERROR = 2;

/** The output of a command. */
export interface Terminal {
  readonly json: boolean;
  readonly paint: Paint;
  /** Whether a user can answer a question here. */
  readonly interactive: boolean;
  /** To standard error, unless `--quiet`. */
  note(text: string): void;
  /** To standard error, always: findings and failures. */
  say(text: string): void;
  /** To standard output, unchanged. */
  data(text: string): void;
  /** The one JSON document of `--json`. */
  document(value: unknown): void;
}

export function createTerminal({
  json,
  quiet,
  color,
}: {
  json: boolean;
  quiet: boolean;
  color: boolean;
}): Terminal {
  const colors = color && process.stderr.isTTY === true && !process.env['NO_COLOR'];
  return {
    json,
    paint: createPaint(colors),
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    note: (text) => void (quiet || process.stderr.write(`${text}\n`)),
    say: (text) => void process.stderr.write(`${text}\n`),
    data: (text) => void process.stdout.write(text),
    document: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
}
