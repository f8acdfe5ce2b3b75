import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { CommandError, EXIT, type ExitCode } from './failure.ts';
import { projectFailure, withoutTrace } from './project-failure.ts';

/** Functions that take an app, with the package that exports each. */
const QUESTIONS = {
  adminApp: '@twofold/auth',
  backupApp: '@twofold/runtime',
  baselineApp: '@twofold/runtime',
  copyApp: '@twofold/runtime',
  driftOfApp: '@twofold/runtime',
  explainApp: '@twofold/runtime',
  jobsApp: '@twofold/runtime',
  linkApp: '@twofold/auth',
  mailsApp: '@twofold/auth',
  migrateApp: '@twofold/runtime',
  migrationsOfApp: '@twofold/runtime',
  misfitsOfApp: '@twofold/runtime',
  openapiOfApp: '@twofold/runtime',
  planOfApp: '@twofold/runtime',
  queryOfApp: '@twofold/runtime',
  resetApp: '@twofold/runtime',
  restoreApp: '@twofold/runtime',
  restoreHostApp: '@twofold/hosting',
  revertApp: '@twofold/runtime',
  seedApp: '@twofold/runtime',
  settingsOfApp: '@twofold/runtime',
  sqlOfApp: '@twofold/runtime',
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
  if (!existsSync(join(root, 'src/generated/app.ts')))
    throw new CommandError(
      EXIT.usage,
      'NOT_GENERATED',
      `there is no src/generated/app.ts in ${root}`,
      'npm run generate',
    );
  const { code, out, errors } = await runScript(root, script(question, options), options);
  const marked = (mark: string) => out.split('\n').findLast((line) => line.startsWith(mark));
  const answer = marked(MARK);
  if (code === 0 && answer !== undefined) return JSON.parse(answer.slice(MARK.length)) as T;
  const refusal = marked(REFUSED);
  if (refusal !== undefined)
    throw refused(JSON.parse(refusal.slice(REFUSED.length)) as RuntimeFailure);
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
  throw new CommandError(EXIT.usage, 'DATABASE_UNREADABLE', withoutTrace(errors) || `exit ${code}`);
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
};

function refused({ code, message, extensions = {} }: RuntimeFailure): CommandError {
  const exit = DECISIONS.has(code) ? EXIT.ambiguous : (EXITS[code] ?? EXIT.usage);
  return Object.assign(new CommandError(exit, code, message), { details: extensions });
}

const MARK = '@@answer ';
const REFUSED = '@@refused ';
const PROGRESS = '@@progress ';
const STEP = '@@step ';

/** Log lines also go to standard output, so the answer is marked. */
function script(question: ProjectQuestion, options: AskOptions): string {
  const withInput = 'input' in options;
  return [
    ...(withInput ? INPUT : []),
    ...(options.channel ? CHANNEL : []),
    `const runtime = await import('${QUESTIONS[question]}');`,
    `const { app } = await import('./src/generated/app.ts');`,
    `try {`,
    `  const answer = await runtime.${question}(app${withInput ? `, input, { progress, step${options.channel ? ', channel' : ''} }` : ''});`,
    `  process.stdout.write('\\n${MARK}' + JSON.stringify(answer ?? null) + '\\n', () => process.exit(0));`,
    `} catch (error) {`,
    `  const { code, message, extensions } = error ?? {};`,
    `  if (/^(BACKUP_|DATABASE_|HOST_|MIGRATION_|ROWS_IN_THE_WAY|TARGET_|VALUE_NOT_HELD)/.test(code)) process.stdout.write('\\n${REFUSED}' + JSON.stringify({ code, message, extensions }) + '\\n', () => process.exit(1));`,
    `  else`,
    `  process.stderr.write((error?.code === undefined ? error?.stack : error.message) + '\\n', () => process.exit(1));`,
    `}`,
  ].join('\n');
}

function runtimeScript(question: string): string {
  return [
    ...INPUT,
    `const { ${question} } = await import(${JSON.stringify(import.meta.resolve('@twofold/runtime'))});`,
    `try {`,
    `  const answer = await ${question}(input);`,
    `  process.stdout.write('\\n${MARK}' + JSON.stringify(answer) + '\\n', () => process.exit(0));`,
    `} catch (error) {`,
    `  process.stderr.write((error?.code === undefined ? error?.stack : error.message) + '\\n', () => process.exit(1));`,
    `}`,
  ].join('\n');
}

/**
 * Code that reads the input of the function from standard input and prints the progress once a
 * second.
 */
const INPUT = [
  `let text = '';`,
  `for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;`,
  `const input = JSON.parse(text);`,
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

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

function runScript(
  root: string,
  text: string,
  { input, onProgress, onStep, channel }: AskOptions,
): Promise<Ended> {
  const env = { LOG_LEVEL: 'silent', ...process.env };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: root,
    env,
    stdio: ['pipe', 'pipe', 'pipe', ...(channel ? (['pipe'] as const) : [])],
  });
  // A process that fails before it reads its input reports the failure itself.
  child.stdin.on('error', () => {}).end(input === undefined ? '' : JSON.stringify(input));
  const [out, errors]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out.push(chunk);
    for (const [, far] of chunk.matchAll(new RegExp(`^${PROGRESS}(.+)$`, 'gm'))) onProgress?.(far!);
  });
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith(STEP)) onStep?.(JSON.parse(line.slice(STEP.length)));
  });
  child.stderr.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
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
