import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, EXIT } from './failure.ts';

/** Functions of the runtime that take an app. */
export type ProjectQuestion = 'migrateApp' | 'migrationsOfApp' | 'revertApp';

/**
 * Asks the project's own runtime, in a process of its own, with the project's settings. The generator itself never loads
 * the runtime.
 *
 * @throws CommandError with what the runtime says is wrong.
 */
export async function askProject<T>(root: string, question: ProjectQuestion): Promise<T> {
  if (!existsSync(join(root, 'src/generated/app.ts'))) throw new CommandError(EXIT.usage, 'NOT_GENERATED', `there is no src/generated/app.ts in ${root}`, 'npx generator generate');
  const { code, out, errors } = await runScript(root, script(question));
  const answer = out.split('\n').findLast((line) => line.startsWith(MARK));
  if (code === 0 && answer !== undefined) return JSON.parse(answer.slice(MARK.length)) as T;
  throw new CommandError(EXIT.usage, 'PROJECT_FAILED', lastLines(errors) || `the project ended with ${code}`, /ERR_MODULE_NOT_FOUND/.test(errors) ? 'npm install' : undefined);
}

const MARK = '@@answer ';

/** Log lines go to standard output as well: the answer has a mark. */
function script(question: ProjectQuestion): string {
  return [
    `const runtime = await import('@twofold/runtime');`,
    `const { app } = await import('./src/generated/app.ts');`,
    `try {`,
    `  const answer = await runtime.${question}(app);`,
    `  process.stdout.write('\\n${MARK}' + JSON.stringify(answer ?? null) + '\\n', () => process.exit(0));`,
    `} catch (error) {`,
    `  process.stderr.write((error?.code === undefined ? error?.stack : error.message) + '\\n', () => process.exit(1));`,
    `}`,
  ].join('\n');
}

function runScript(root: string, text: string): Promise<{ code: number | null; out: string; errors: string }> {
  const env = { LOG_LEVEL: 'silent', ...process.env };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, errors]: [string[], string[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => void out.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  return new Promise((resolve, reject) => child.once('error', reject).once('close', (code) => resolve({ code, out: out.join(''), errors: errors.join('') })));
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-12).join('\n');
}
