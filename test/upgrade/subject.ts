import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Ended, makeProject, readFiles, runFile } from '../generator/project.ts';
import type { Random } from '../generator/random.ts';
import { changeSchema, printFiles, startSchema } from '../generator/random-schema.ts';
import type { Release } from './releases.ts';

/** A project of a release, which is upgraded. */
export interface Subject {
  readonly name: string;
  readonly root: string;
  /** Files of the user that no upgrade may change, by path. */
  readonly own: Readonly<Record<string, string>>;
  /** Lines that were added to files which the generator shares with the user. */
  readonly added: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
  remove(): void;
}

const TEMPLATES = ['blog', 'company', 'starter', 'hosting'] as const;

/** A project of a template, or of a random schema, with random edits; the same for the same number. */
export async function makeSubject(at: number, release: Release, random: Random): Promise<Subject> {
  const template = TEMPLATES[at % 5];
  const project = makeProject({});
  const { root } = project;
  if (template) {
    const words = ['init', root, '--name', 'shop', '--template', template, '--no-install'];
    await succeed(generator(release, [...words, '--packages', 'registry', '--force'], root));
  } else {
    let schema = startSchema(random, 4);
    for (let change = 0; change < 6; change++) schema = changeSchema(schema, random);
    for (const [path, text] of Object.entries(printFiles(schema))) project.write(path, text);
    project.write('manifest.yaml', 'name: shop\n');
  }
  vendor(root, release);
  link(root, release);
  await succeed(generator(release, ['generate'], root));
  // Secrets are random.
  project.write('.env', 'JWT_SECRET=mine\nHOST_PASSWORD=mine\n');
  const edits = edit(root, random);
  commit(root);
  return { name: `${at} ${template ?? 'random'}`, root, ...edits, remove: project.remove };
}

/** The packages are in `vendor/`, as `init` of a clone puts them there. */
function vendor(root: string, release: Release): void {
  mkdirSync(join(root, 'vendor'), { recursive: true });
  execFileSync('sh', ['-c', 'cp "$0"/twofold-*.tgz "$1"', release.packs, join(root, 'vendor')]);
  const path = join(root, 'package.json');
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8').replace(
    /"@twofold\/(\w+)": "\^[^"]+"/g,
    (_, short: string) =>
      `"@twofold/${short}": "file:vendor/twofold-${short}-${release.version}.tgz"`,
  );
  writeFileSync(path, text);
}

/** Installs a release: the packages that the project's code runs with from now on. */
export function link(root: string, { modules }: Release): void {
  rmSync(join(root, 'node_modules'), { recursive: true, force: true });
  symlinkSync(modules, join(root, 'node_modules'));
}

const TOOL = `import { openContext } from '@twofold/runtime';\r
import { app } from '../generated/app.ts';\r
\r
/** openContext’s own ctx — “é ∂ 漢字”. */\r
export const report = async () => (await openContext(app)).data;\r
`;

/** Edits as users make them: each keeps the project correct. */
const EDITS: readonly ((files: EditedFiles) => void)[] = [
  ({ write }) => write('src/own/tabs.ts', 'export const own = () => {\n\treturn 1;\n};\n'),
  ({ write }) => write('src/own/bom.ts', '\uFEFFexport const text = "bom";\r\n'),
  ({ write }) => write('src/own/end.ts', '// no newline at the end'),
  ({ write }) => write('docs/notes.md', 'openContext is mine\r\n'),
  ({ write }) =>
    write('test/own.test.ts', "import { test } from 'node:test';\n\ntest('mine', () => {});\n"),
  ({ append }) => append('src/server.ts', '\n// mine: ünïcödé\n'),
  ({ share }) => share('.gitignore', 'mine.txt\n'),
  ({ share }) => share('README.md', '\nWords of mine.\n'),
  ({ share }) => share('Dockerfile', '# a line of mine\n'),
  ({ share }) => share('AGENTS.md', '\nA rule of mine.\n'),
  ({ drop }) => drop('compose.yaml'),
  ({ drop }) => drop('AGENTS.md'),
  ({ inPackage }) => inPackage('"test":', '"mine": "echo mine",\n    "test":'),
];

interface EditedFiles {
  write(path: string, text: string): void;
  append(path: string, text: string): void;
  share(path: string, line: string): void;
  drop(path: string): void;
  inPackage(from: string, to: string): void;
}

type Edits = Pick<Subject, 'own' | 'added' | 'removed'>;

function edit(root: string, random: Random): Edits {
  const [own, added]: Record<string, string>[] = [{}, {}];
  const removed = new Set<string>();
  const at = (path: string) => join(root, path);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const files: EditedFiles = {
    write: (path, text) => void (put(path, text), (own![path] = text)),
    append: (path, text) => files.write(path, readFileSync(at(path), 'utf8') + text),
    share: (path, line) => {
      if (removed.has(path)) return;
      put(path, readFileSync(at(path), 'utf8') + line);
      added![path] = line;
    },
    drop: (path) => {
      if (path in added!) return;
      rmSync(at(path), { force: true });
      removed.add(path);
    },
    inPackage: (from, to) => {
      put('package.json', readFileSync(at('package.json'), 'utf8').replace(from, to));
      added!['package.json'] = to;
    },
  };
  files.write('src/tools/report.ts', TOOL);
  for (const each of EDITS) if (random.chance(0.6)) each(files);
  // The codemods of the made-up releases change this file: it is compared on its own.
  delete own!['src/tools/report.ts'];
  return { own: own!, added: added!, removed: [...removed] };
}

/** What the codemods make of the tool: every other byte is as it was. */
export const toolWith = (name: string): string =>
  TOOL.replaceAll(/(?<!\/\*\* )openContext/g, name).replace('openContext’s', `${name}’s`);

export function commit(root: string): void {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.email=a@example.com', '-c', 'user.name=a', ...words], {
      cwd: root,
      stdio: 'pipe',
    });
  if (!existsSync(join(root, '.git'))) git('init', '-q');
  writeFileSync(join(root, '.git/info/exclude'), 'node_modules\n');
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'a state');
}

/** Runs the command line of a release. */
export const generator = (
  release: Release,
  words: readonly string[],
  cwd: string,
): Promise<Ended> =>
  runFile(
    process.execPath,
    [join(release.modules, '@twofold/generator/generator/bin.js'), ...words],
    cwd,
  );

export const upgrade = (root: string, to: Release, ...words: string[]): Promise<Ended> =>
  generator(to, ['upgrade', '--to', to.packs, '--no-install', ...words], root);

/** @throws when the program failed, with what it printed. */
export async function succeed(running: Promise<Ended>): Promise<Ended> {
  const ended = await running;
  if (ended.code === 0) return ended;
  throw new Error(`ended with ${ended.code}:\n${ended.stdout}\n${ended.stderr}`);
}

/** Every file but packages and what only this machine needs, tarballs by their names. */
export const stateOf = (root: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(readFiles(root, '')).filter(
      ([path]) => !/^(?:data|\.generator\/(?!base\.json))/.test(path),
    ),
  ),
  vendor: execFileSync('sh', ['-c', 'cd vendor && sha256sum *'], { cwd: root, encoding: 'utf8' }),
});

const ENV = {
  PORT: '0',
  HOST: '127.0.0.1',
  MIGRATE: 'on',
  DATABASE_URL: 'file:data/app.db',
  JWT_SECRET: 'j'.repeat(43),
  API_KEY: 'k'.repeat(43),
  HOST_PASSWORD: 'correct horse battery',
  ENGINE: '',
};

/** Serves the project while `asked` runs. */
export async function whileServing<T>(
  root: string,
  asked: (url: string, output: () => string) => Promise<T>,
): Promise<T> {
  const { VITEST: _, NODE_ENV: __, ...env } = process.env;
  const child = spawn(process.execPath, ['src/server.ts'], { cwd: root, env: { ...env, ...ENV } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => void (text += chunk));
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  try {
    for (;;) {
      const url = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (url) return await asked(url, () => text);
      if (child.exitCode !== null) throw new Error(`the server ended:\n${text}`);
      await wait(20);
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
