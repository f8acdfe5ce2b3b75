import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import type { openDatabase } from '@twofold/database';
import { CommandError, EXIT, type ExitCode } from './failure.ts';
import { projectFailure, withoutTrace } from './project-failure.ts';

/** Functions that take an app, and verbs of its database, with the package that has each. */
const QUESTIONS = {
  backup: '@twofold/database',
  baseline: '@twofold/database',
  copy: '@twofold/database',
  drift: '@twofold/database',
  migrate: '@twofold/database',
  misfits: '@twofold/database',
  plan: '@twofold/database',
  reset: '@twofold/database',
  restore: '@twofold/database',
  revert: '@twofold/database',
  seed: '@twofold/database',
  sql: '@twofold/database',
  status: '@twofold/database',
  adminApp: '@twofold/auth',
  databaseReport: '@twofold/runtime/kernel',
  explainApp: '@twofold/runtime',
  jobsApp: '@twofold/runtime',
  linkApp: '@twofold/auth',
  mailsApp: '@twofold/auth',
  openapiOfApp: '@twofold/runtime',
  queryOfApp: '@twofold/runtime',
  restoreHostApp: '@twofold/hosting',
  settingsOfApp: '@twofold/runtime',
} as const;

export type ProjectQuestion = keyof typeof QUESTIONS;

export interface AskOptions {
  /** The second argument of the function, as JSON. */
  readonly input?: unknown;
  /** Called with the progress from time to time. */
  readonly onProgress?: (text: string) => void;
  /** Called with each step that is done, as the function reports it. */
  readonly onStep?: (step: unknown) => void;
  /** Handles the other end of the stream that the function gets as `channel`. */
  readonly channel?: (stream: Duplex) => Promise<void>;
}

/** How a command asks: in a process for each question, or in one that is kept. */
export type AskProject = <T>(
  root: string,
  question: ProjectQuestion,
  options?: AskOptions,
) => Promise<T>;

/**
 * Asks the project's own runtime in a separate process, with the project's settings. The generator
 * itself never loads the runtime.
 *
 * @throws CommandError with the message of the runtime.
 */
export async function askProject<T>(
  root: string,
  question: ProjectQuestion,
  options: AskOptions = {},
): Promise<T> {
  assertGenerated(root);
  const ended = await runScript(root, projectScript(options), {
    ...options,
    input: messageOf(question, options.input),
  });
  return answerOf(ended);
}

/** What the verbs of a database answer. */
export type Answer<Verb extends ProjectQuestion & keyof Database> = Awaited<
  ReturnType<Database[Verb]>
>;

type Database = ReturnType<typeof openDatabase>;

/** Asks the project's database, as `askProject` does. */
export const askDatabase = <Verb extends ProjectQuestion & keyof Database>(
  root: string,
  verb: Verb,
  options?: AskOptions,
): Promise<Answer<Verb>> => askProject(root, verb, options);

/** @throws CommandError when there is nothing to ask */
export function assertGenerated(root: string): void {
  if (existsSync(join(root, 'src/generated/app.ts'))) return;
  throw new CommandError('NOT_GENERATED', {
    message: `there is no src/generated/app.ts in ${root}`,
    fix: 'npm run generate',
  });
}

/** A question as the process reads it: a line. */
export const messageOf = (question: ProjectQuestion, input: unknown): object => ({
  from: QUESTIONS[question],
  question,
  input,
});

/** @throws CommandError with the failure of the process, or of the question */
export function answerOf<T>({ code, out, errors }: Ended): T {
  const marked = (mark: string) => out.split('\n').findLast((line) => line.startsWith(mark));
  const refusal = marked(REFUSED);
  if (refusal !== undefined)
    throw refused(JSON.parse(refusal.slice(REFUSED.length)) as RuntimeFailure);
  const answer = marked(MARK);
  if (!code && answer !== undefined) return JSON.parse(answer.slice(MARK.length)) as T;
  throw projectFailure(errors, code);
}

/**
 * Calls the runtime of this generator's own version, about something that is not a project yet.
 *
 * @throws CommandError with the message of the runtime.
 */
export async function askRuntime<T>(
  root: string,
  question: 'catalogOfDatabase',
  input: unknown,
): Promise<T> {
  const { code, out, errors } = await runScript(root, runtimeScript(question), { input });
  const answer = out.split('\n').findLast((line) => line.startsWith(MARK));
  if (code === 0 && answer !== undefined) return JSON.parse(answer.slice(MARK.length)) as T;
  throw new CommandError('DATABASE_UNREADABLE', {
    message: withoutTrace(errors) || `exit ${code}`,
  });
}

/** An expected failure of the runtime, with a code and a message. */
interface RuntimeFailure {
  readonly code: string;
  readonly message: string;
  /** Where and why it failed, as data. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/**
 * Codes of failures that need a decision of the user: rows to correct, or a loss of data to agree
 * to.
 */
const DECISIONS: ReadonlySet<string> = new Set([
  'DATABASE_GUARDED',
  'DATABASE_NOT_EMPTY',
  'HOST_NOT_EMPTY',
  'MIGRATION_BASELINE_DIFFERS',
  'MIGRATION_NEEDS_CONSENT',
  'ROWS_IN_THE_WAY',
  'TARGET_HAS_ROWS',
  'VALUE_NOT_HELD',
]);

/** Other exit codes than 2, that of a project that failed. */
const EXITS: Readonly<Record<string, ExitCode>> = {
  MIGRATION_DRAFT: EXIT.invalid,
  MIGRATION_LOCKED: EXIT.again,
  WAITING_FOR_LOCK: EXIT.again,
};

function refused({ code, message, extensions = {} }: RuntimeFailure): CommandError {
  const exit = DECISIONS.has(code) ? EXIT.ambiguous : (EXITS[code] ?? EXIT.usage);
  return new CommandError(code, { message, exit, details: extensions });
}

export const MARK = '@@answer ';
export const REFUSED = '@@refused ';
const PROGRESS = '@@progress ';
const STEP = '@@step ';

/**
 * The program that answers questions, a line each, until there are no more. Log lines also go to
 * standard output, so the answers are marked.
 */
export function projectScript({ channel }: AskOptions = {}): string {
  return [
    ...START,
    ...(channel ? CHANNEL : []),
    `let code = 0;`,
    `for await (const line of createInterface({ input: process.stdin })) {`,
    `  const { from, question, input } = JSON.parse(line);`,
    `  const asked = await import(from);`,
    `  const { app } = await import('./src/generated/app.ts');`,
    `  try {`,
    `    const given = { progress, step${channel ? ', channel' : ''} };`,
    `    const answer = await (asked.openDatabase ? asked.openDatabase(app)[question](input, given) : asked[question](app, input, given));`,
    `    process.stdout.write('\\n${MARK}' + JSON.stringify(answer ?? null) + '\\n');`,
    `  } catch (error) {`,
    `    const { code: of, message, extensions } = error ?? {};`,
    `    if (!/^(BACKUP_|DATABASE_|HOST_|MIGRATION_|ROWS_IN_THE_WAY|TARGET_|USER_UNKNOWN|VALUE_NOT_HELD|WAITING_)/.test(of)) {`,
    `      process.stderr.write((of === undefined ? error?.stack : message) + '\\n', () => process.exit(1));`,
    `      await new Promise(() => {});`,
    `    }`,
    `    code = 1;`,
    `    process.stdout.write('\\n${REFUSED}' + JSON.stringify({ code: of, message, extensions }) + '\\n');`,
    `  }`,
    `}`,
    `process.stdout.write('', () => process.exit(code));`,
  ].join('\n');
}

function runtimeScript(question: string): string {
  return [
    ...START,
    `let input = '';`,
    `for await (const chunk of process.stdin.setEncoding('utf8')) input += chunk;`,
    `const { ${question} } = await import(${JSON.stringify(import.meta.resolve('@twofold/database'))});`,
    `try {`,
    `  const answer = await ${question}(JSON.parse(input));`,
    `  process.stdout.write('\\n${MARK}' + JSON.stringify(answer) + '\\n', () => process.exit(0));`,
    `} catch (error) {`,
    `  process.stderr.write((error?.code === undefined ? error?.stack : error.message) + '\\n', () => process.exit(1));`,
    `}`,
  ].join('\n');
}

/** Code that keeps what V8 compiled for the next process, and prints the progress once a second. */
const START = [
  `import { enableCompileCache } from 'node:module';`,
  `import { createInterface } from 'node:readline';`,
  `enableCompileCache();`,
  `let printed = Date.now();`,
  `const progress = (done, total) => {`,
  `  if (Date.now() - printed < 1000) return;`,
  `  printed = Date.now();`,
  `  process.stdout.write('\\n${PROGRESS}' + done + (total === undefined ? '' : ' of ' + total) + ' rows\\n');`,
  `};`,
  `const step = (done) => void process.stdout.write('\\n${STEP}' + JSON.stringify(done) + '\\n');`,
];

/** The file descriptor of the stream between the two processes; 0 to 2 are the standard ones. */
const CHANNEL_FD = 3;

const CHANNEL = [
  `const { Socket } = await import('node:net');`,
  `const channel = new Socket({ fd: ${CHANNEL_FD} });`,
];

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** Starts a process of the project that runs a program. */
export const startScript = (root: string, text: string, more: readonly 'pipe'[] = []) =>
  spawn(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: root,
    env: { LOG_LEVEL: 'silent', ...process.env },
    stdio: ['pipe', 'pipe', 'pipe', ...more],
  });

function runScript(
  root: string,
  text: string,
  { input, onProgress, onStep, channel }: AskOptions,
): Promise<Ended> {
  const child = startScript(root, text, channel ? ['pipe'] : []);
  const [stdin, stdout, stderr] = [child.stdin!, child.stdout!, child.stderr!];
  // A process that fails before it reads its input reports the failure itself.
  stdin.on('error', () => {}).end(JSON.stringify(input));
  const [out, errors]: [string[], string[]] = [[], []];
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out.push(chunk);
    for (const [, far] of chunk.matchAll(new RegExp(`^${PROGRESS}(.+)$`, 'gm'))) onProgress?.(far!);
  });
  createInterface(stdout).on('line', (line) => {
    if (line.startsWith(STEP)) onStep?.(JSON.parse(line.slice(STEP.length)));
  });
  stderr.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  const ended = new Promise<Ended>((resolve, reject) =>
    child
      .once('error', reject)
      .once('close', (code) => resolve({ code, out: out.join(''), errors: errors.join('') })),
  );
  return channel ? withChannel(child, ended, channel) : ended;
}

/** Milliseconds in which a project reports why it failed. */
const GRACE = 5000;

/**
 * A failure of the project is reported rather than that of the stream, which it causes. A failure at
 * this end closes the stream, which the project notices.
 */
async function withChannel(
  child: ChildProcess,
  ended: Promise<Ended>,
  channel: NonNullable<AskOptions['channel']>,
): Promise<Ended> {
  const stream = child.stdio[CHANNEL_FD] as Duplex;
  // The end of the project shows in its exit code.
  stream.on('error', () => {});
  const handled = channel(stream).then(
    () => null,
    (error: unknown) => {
      stream.destroy();
      setTimeout(() => child.kill(), GRACE).unref();
      return { error };
    },
  );
  const [result, problem] = await Promise.all([ended, handled]);
  const silent = result.errors === '' && !result.out.includes(REFUSED);
  if (problem && silent) throw problem.error;
  return result;
}
