import { first, nearest } from '@twofold/schema';
import { resolve } from 'node:path';
import type { jobsApp } from '@twofold/runtime';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { askProject } from '../run-project.ts';

export const JOB_COMMANDS = ['stats', 'list', 'show', 'run', 'retry', 'cancel'] as const;

type Command = (typeof JOB_COMMANDS)[number];

/** The argument that each command needs after its name. */
const SUBJECTS: Readonly<Partial<Record<Command, string>>> = {
  show: 'an ID',
  run: 'the NAME of a job',
  retry: 'an ID, or --failed',
  cancel: 'an ID',
};

type Report = Awaited<ReturnType<typeof jobsApp>>;
type ShownJob = Extract<Report, { readonly job: unknown }>['job'];
type Job = Extract<Report, { readonly jobs: unknown }>['jobs'][number];

/** `generator jobs [stats|list|show|run|retry|cancel]`: the queue of a project. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { terminal, options } = call;
  const question = questionOf(call);
  const report = await askProject<Report>(resolve(call.cwd), 'jobsApp', { input: question });
  if (!report.ok) throw new CommandError('JOBS_REFUSED', { message: report.refused });
  if (terminal.json) terminal.document(report);
  else terminal.data(textOf(report, question.command));
  const failed = 'job' in report && report.job.state !== 'done';
  return question.command === 'run' && options['wait'] && failed ? EXIT.usage : EXIT.done;
}

function questionOf({ options, positionals }: CommandCall) {
  const [given = 'stats', subject] = positionals;
  const command = JOB_COMMANDS.find((each) => each === given);
  if (!command) throw unknownCommand(given);
  const failed = options['failed'] === true;
  const needed = SUBJECTS[command];
  if (needed && subject === undefined && !(command === 'retry' && failed))
    throw usage(`jobs ${command} needs ${needed}`);
  if (!needed && subject !== undefined) throw usage(`jobs ${command} takes no ${subject}`);
  const { state, name, data, limit, wait } = options;
  return {
    command,
    subject,
    state,
    name,
    failed,
    wait: wait === true,
    ...(limit !== undefined && { limit: limitOf(String(limit)) }),
    ...(data !== undefined && { data: dataOf(String(data)) }),
  };
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw usage('--limit must be a number from 1 to 10000');
  return limit;
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`--data must be JSON: ${(error as Error).message}`);
  }
}

function textOf(report: Exclude<Report, { ok: false }>, command: Command): string {
  if ('stats' in report)
    return table(report.stats.map(({ name, state, count }) => [name, state, String(count)]));
  if ('jobs' in report) return table(report.jobs.map(rowOf));
  if ('retried' in report) return `${report.retried} begin anew\n`;
  if (command === 'run') return `${report.job.id}\n`;
  return command === 'show' ? details(report.job) : table([rowOf(report.job)]);
}

const rowOf = ({ id, name, state, attempt, attempts, at, error }: Job) => [
  String(id),
  name,
  state,
  `${attempt}/${attempts}`,
  at,
  first((error ?? '').split('\n', 1)),
];

function table(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'no jobs\n';
  const widths = first(rows).map((_, column) =>
    Math.max(...rows.map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

function details(job: ShownJob): string {
  const { errors, data, ...rest } = job;
  const lines = Object.entries(rest)
    .filter(([name, value]) => value !== null && name !== 'error')
    .map(([name, value]) => [name, String(value)]);
  const all = [...lines, ['data', JSON.stringify(data)]];
  const failures = errors.map(
    ({ attempt, at, message }) => `attempt ${attempt}, ${at}: ${message}\n`,
  );
  return table(all) + failures.join('');
}

function unknownCommand(given: string): CommandError {
  const near = nearest(given, JOB_COMMANDS);
  return usage(
    `jobs has no command ${given}: one of ${JOB_COMMANDS.join(', ')}${near ? `. Did you mean "${near}"?` : ''}`,
  );
}

function usage(message: string): CommandError {
  return new CommandError('JOBS_WORDS', { message, fix: 'npm run generator -- jobs --help' });
}
