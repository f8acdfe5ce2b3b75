import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, EXIT } from './failure.ts';

/** Functions that take an app, with the package that exports each. */
const QUESTIONS = {
  adminApp: '@twofold/auth',
  explainApp: '@twofold/runtime',
  jobsApp: '@twofold/runtime',
  mailsApp: '@twofold/auth',
  migrateApp: '@twofold/runtime',
  migrationsOfApp: '@twofold/runtime',
  openapiOfApp: '@twofold/runtime',
  planOfApp: '@twofold/runtime',
  resetApp: '@twofold/runtime',
  revertApp: '@twofold/runtime',
  seedApp: '@twofold/runtime',
  settingsOfApp: '@twofold/runtime',
} as const;

export type ProjectQuestion = keyof typeof QUESTIONS;

export interface AskOptions {
  /** The second argument of the function, as JSON. */
  readonly input?: unknown;
  /** Called with the progress from time to time. */
  readonly onProgress?: (text: string) => void;
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
  const { code, out, errors } = await runScript(
    root,
    script(question, 'input' in options),
    options,
  );
  const marked = (mark: string) => out.split('\n').findLast((line) => line.startsWith(mark));
  const answer = marked(MARK);
  if (code === 0 && answer !== undefined) return JSON.parse(answer.slice(MARK.length)) as T;
  const refusal = marked(REFUSED);
  if (refusal !== undefined)
    throw refused(JSON.parse(refusal.slice(REFUSED.length)) as RuntimeFailure);
  throw new CommandError(
    EXIT.usage,
    'PROJECT_FAILED',
    lastLines(errors) || `the project ended with ${code}`,
    /ERR_MODULE_NOT_FOUND/.test(errors) ? 'npm install' : undefined,
  );
}

/** An expected failure of the runtime, with a code and a message. */
interface RuntimeFailure {
  readonly code: string;
  readonly message: string;
}

/**
 * Codes of failures that need a decision of the user: rows to correct, or a loss of data to agree
 * to.
 */
const DECISIONS: ReadonlySet<string> = new Set([
  'ROWS_IN_THE_WAY',
  'MIGRATION_NEEDS_CONSENT',
  'DATABASE_GUARDED',
  'DATABASE_NOT_EMPTY',
]);

function refused({ code, message }: RuntimeFailure): CommandError {
  const exit = DECISIONS.has(code)
    ? EXIT.ambiguous
    : code === 'MIGRATION_DRAFT'
      ? EXIT.invalid
      : EXIT.usage;
  return new CommandError(exit, code, message);
}

const MARK = '@@answer ';
const REFUSED = '@@refused ';
const PROGRESS = '@@progress ';

/** Log lines also go to standard output, so the answer is marked. */
function script(question: ProjectQuestion, withInput: boolean): string {
  return [
    ...(withInput ? INPUT : []),
    `const runtime = await import('${QUESTIONS[question]}');`,
    `const { app } = await import('./src/generated/app.ts');`,
    `try {`,
    `  const answer = await runtime.${question}(app${withInput ? ', input, { progress }' : ''});`,
    `  process.stdout.write('\\n${MARK}' + JSON.stringify(answer ?? null) + '\\n', () => process.exit(0));`,
    `} catch (error) {`,
    `  const { code, message } = error ?? {};`,
    `  if (/^(MIGRATION_|DATABASE_|ROWS_IN_THE_WAY)/.test(code)) process.stdout.write('\\n${REFUSED}' + JSON.stringify({ code, message }) + '\\n', () => process.exit(1));`,
    `  else`,
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
  `  process.stdout.write('\\n${PROGRESS}' + done + ' of ' + total + ' rows\\n');`,
  `};`,
];

function runScript(
  root: string,
  text: string,
  { input, onProgress }: AskOptions,
): Promise<{ code: number | null; out: string; errors: string }> {
  const env = { LOG_LEVEL: 'silent', ...process.env };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: root,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A process that fails before it reads its input reports the failure itself.
  child.stdin.on('error', () => {}).end(input === undefined ? '' : JSON.stringify(input));
  const [out, errors]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out.push(chunk);
    for (const [, far] of chunk.matchAll(new RegExp(`^${PROGRESS}(.+)$`, 'gm'))) onProgress?.(far!);
  });
  child.stderr.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  return new Promise((resolve, reject) =>
    child
      .once('error', reject)
      .once('close', (code) => resolve({ code, out: out.join(''), errors: errors.join('') })),
  );
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-12).join('\n');
}
