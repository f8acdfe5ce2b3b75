import { type ChildProcess, execFile, execFileSync, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packPackages } from '../../generator/packages/pack.ts';
import { packNameOf } from '../../generator/packages/vendored.ts';

export const repo = fileURLToPath(new URL('../../', import.meta.url));

export const SEED = `type User {
  id: ID!
  name: String!
  email: String!
}

type Query {
  user(id: ID!): User
  users: [User!]!
}
`;

/** A project in a temporary folder, with this repo's packages in reach. */
export interface TestProject {
  readonly root: string;
  path(name: string): string;
  read(name: string): string;
  write(name: string, text: string): void;
  has(name: string): boolean;
  /** Every file with its text, but for packages and what only this machine needs. */
  files(): Record<string, string>;
  remove(): void;
}

export function makeProject(
  files: Record<string, string> = { 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' },
): TestProject {
  const root = mkdtempSync(join(tmpdir(), 'twofold-test-'));
  const path = (name: string) => join(root, name);
  const project: TestProject = {
    root,
    path,
    read: (name) => readFileSync(path(name), 'utf8'),
    write: (name, text) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    },
    has: (name) => existsSync(path(name)),
    files: () => readFiles(root, ''),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  for (const [name, text] of Object.entries(files)) project.write(name, text);
  return project;
}

/**
 * Puts our packages where the project finds them as they are shipped, JavaScript and `.d.ts`: what a project is
 * type-checked against. Their modules are joined, so a process of the project starts in two thirds of the time.
 */
export function linkPackages({ root }: TestProject): void {
  symlinkSync(shipped, join(root, 'node_modules'));
}

/** They are placed once for a process of tests: the sources stay as they are. */
const shipped = await placePackages();

async function placePackages(): Promise<string> {
  const packed = await packPackages();
  const key = createHash('sha256')
    .update(Buffer.concat(packed.map(({ bytes }) => bytes)))
    .digest('hex')
    .slice(0, 16);
  const folder = join(repo, '.build/shipped', key);
  if (existsSync(folder)) return join(folder, 'node_modules');
  const part = mkdtempSync(`${join(repo, '.build/')}shipped-`);
  const modules = join(part, 'node_modules');
  mkdirSync(join(modules, '@twofold'), { recursive: true });
  for (const { name, bytes } of packed) {
    const short = packNameOf(name)?.short;
    if (short === undefined) continue;
    writeFileSync(join(part, name), bytes);
    mkdirSync(join(modules, '@twofold', short));
    execFileSync('tar', [
      'xzf',
      join(part, name),
      '--strip-components=1',
      '-C',
      join(modules, '@twofold', short),
    ]);
  }
  for (const name of readdirSync(join(repo, 'node_modules')))
    if (name !== '@twofold') symlinkSync(join(repo, 'node_modules', name), join(modules, name));
  mkdirSync(join(repo, '.build/shipped'), { recursive: true });
  try {
    renameSync(part, folder);
  } catch {
    rmSync(part, { recursive: true, force: true });
  }
  return join(folder, 'node_modules');
}

export function readFiles(root: string, folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(join(root, folder)).sort()) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (['node_modules', '.git', 'vendor'].includes(name) || path === '.generator/run.lock')
      continue;
    const stat = lstatSync(join(root, path));
    if (stat.isDirectory()) Object.assign(files, readFiles(root, path));
    else files[path] = readFileSync(join(root, path), 'utf8');
  }
  return files;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real program, in a process of its own. */
export function program(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return runFile(process.execPath, [join(repo, 'generator/bin.js'), ...args], cwd, env);
}

/** Commands that end by themselves, ask nothing, and write whole texts. */
const PLAIN = new Set([
  ...['check', 'eject', 'explain', 'generate', 'import', 'jobs', 'mails', 'migrate', 'openapi'],
  ...['prune', 'rename', 'seed'],
]);

/** Runs a command of the program: a plain one in a process that has loaded the program already. */
export async function generator(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  // Options of Node are for the start of a process.
  const plain = PLAIN.has(args[0]!) && !args.includes('--watch') && !('NODE_OPTIONS' in env);
  if (busy || !plain) return program(args, cwd, env);
  busy = true;
  try {
    return await inHost(args, cwd, { ...process.env, NO_COLOR: '1', ...env });
  } finally {
    busy = false;
  }
}

let busy = false;
let host: ChildProcess | undefined;

function inHost(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = (host ??= startHost());
  return new Promise((resolve, reject) => {
    const lost = (code: number | null, signal: string | null) =>
      reject(new Error(`the program ended with ${code ?? signal} while it ran ${args.join(' ')}`));
    child.once('exit', lost);
    child.once('message', (ended: Ended) => {
      child.off('exit', lost);
      resolve(ended);
    });
    child.send({ args, cwd, env });
  });
}

function startHost(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'command-host.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  child.unref();
  child.channel!.unref();
  child.once('exit', () => (host = undefined));
  return child;
}

export function runFile(
  file: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 1 << 26 },
      (error, stdout, stderr) =>
        resolve({
          code: error ? (typeof error.code === 'number' ? error.code : 1) : 0,
          stdout,
          stderr,
        }),
    );
  });
}

/** Type-checks a project as its own `npm run typecheck` does. Only what the project itself holds counts. */
export async function typecheck(root: string): Promise<string[]> {
  const { stdout, stderr } = await runFile(
    process.execPath,
    [join(repo, 'node_modules/typescript/bin/tsc'), '-p', '.', '--pretty', 'false'],
    root,
  );
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('..') && !line.startsWith(' '));
}
