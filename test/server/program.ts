import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../source-files.ts';

/** A program in a folder of its own, run by the same Node as the tests. */
export interface Program {
  readonly folder: string;
  readonly process: ChildProcess;
  /** Everything it printed so far, both streams. */
  output(): string;
  /** Resolves with the address once it listens; rejects when it ends before. */
  readonly listening: Promise<string>;
  readonly ended: Promise<number | null>;
}

/** Starts `code` as a file of a new folder from which the packages of this repository can be imported. */
export function run(
  code: string,
  env: Readonly<Record<string, string>> = {},
  folder = newFolder(),
): Program {
  writeFileSync(join(folder, 'program.ts'), code);
  const child = spawn(process.execPath, ['program.ts'], {
    cwd: folder,
    env: { ...clean(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => void (text += chunk));
  child.stderr.on('data', (chunk) => void (text += chunk));
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const url = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (url) resolve(url);
    });
    void ended.then((code) => reject(new Error(`ended with ${code} before it listened:\n${text}`)));
  });
  listening.catch(() => {});
  return { folder, process: child, output: () => text, listening, ended };
}

/** A new folder that sees the repository's packages, as one does that was installed. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-program-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Ends it and removes its folder. */
export async function end(program: Program): Promise<void> {
  program.process.kill('SIGKILL');
  await program.ended;
  rmSync(program.folder, { recursive: true, force: true });
}

/** The environment without what would change a server's settings. */
function clean(): Record<string, string> {
  const settings =
    /^(PORT|HOST|DATABASE_URL|NODE_ENV|MIGRATE|WORKERS|LOG_LEVEL|LOG_FORMAT|APP_URL|JWT_SECRET|API_KEY|VITEST.*|NODE_OPTIONS)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name, value]) => !settings.test(name) && value !== undefined,
    ),
  ) as Record<string, string>;
}

/** Posts a GraphQL request and gives back the parsed answer. */
export async function query(
  url: string,
  text: string,
  variables?: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<any> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query: text, variables }),
  });
  return response.json();
}
