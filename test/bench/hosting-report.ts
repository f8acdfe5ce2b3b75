import { loadavg } from 'node:os';

/** The middle one. */
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Prints a line. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Milliseconds as people read them. */
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** What else the machine does: figures of wall time are read with it. */
export const load = (): string =>
  `load ${loadavg()
    .map((value) => value.toFixed(1))
    .join(', ')}`;

/** One goal: what was seen, what is wanted, and whether it is met. */
export function verdict(what: string, seen: string, goal: string, met: boolean): void {
  say(`| ${what} | ${seen} | ${goal} | ${met ? 'met' : '**not met**'} |`);
}
