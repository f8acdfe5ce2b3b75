import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { releaseOf } from '../schema/releases.ts';
import { runProgram } from '../generator/run-program.ts';

const repo = fileURLToPath(new URL('..', import.meta.url));

const MANIFESTS = [
  'package.json',
  'schema/package.json',
  'create/package.json',
  ...['core', 'database', 'auth', 'hosting', 'models', 'console'].map(
    (name) => `runtime/${name}/package.json`,
  ),
];
const EXAMPLES = ['blog', 'company', 'conduit', 'hosting'];

/**
 * Sets the version of all packages, in the lockfile and the examples too, and dates the changelog.
 */
export async function setVersion(version: string, root = repo): Promise<void> {
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/i.test(version))
    throw new Error(`${version} is not a version: write three numbers, such as 0.2.0`);
  const edit = async (path: string, change: (text: string) => string) => {
    const text = await readFile(join(root, path), 'utf8');
    await writeFile(join(root, path), change(text));
  };
  for (const path of MANIFESTS) await edit(path, (text) => withVersion(text, version));
  await edit('package-lock.json', (text) => lockWithVersion(text, version));
  await edit('runtime/core/version.ts', (text) =>
    text.replace(/VERSION = '[^']*'/, `VERSION = '${version}'`),
  );
  await edit('CHANGELOG.md', (text) => dated(text, version, new Date()));
  for (const name of EXAMPLES) {
    await edit(`examples/${name}/package.json`, (text) =>
      text.replace(/("@twofold\/[a-z]+": "\^)[^"]*/g, `$1${version}`),
    );
    await edit(`examples/${name}/manifest.yaml`, (text) =>
      text.replace(/^defaults: .*$/m, `defaults: ${JSON.stringify(releaseOf(version))}`),
    );
    const words = ['generator/bin.js', 'generate', '--cwd', `examples/${name}`];
    await runProgram(process.execPath, words, { cwd: root });
  }
}

interface Versioned {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const ours = (dependencies: Readonly<Record<string, string>>, version: string) =>
  Object.fromEntries(
    Object.entries(dependencies).map(([name, wanted]) => [
      name,
      name.startsWith('@twofold/') ? version : wanted,
    ]),
  );

function changed<T extends Versioned>(each: T, version: string): T {
  const { dependencies } = each;
  return { ...each, version, ...(dependencies && { dependencies: ours(dependencies, version) }) };
}

const printed = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const withVersion = (text: string, version: string) =>
  printed(changed(JSON.parse(text) as Versioned, version));

/**
 * In a lockfile, packages of the repository are listed by their folder; installed ones are below
 * `node_modules`.
 */
function lockWithVersion(text: string, version: string): string {
  const lock = JSON.parse(text) as { packages: Record<string, Versioned> };
  const packages = Object.entries(lock.packages).map(([path, each]) => [
    path,
    path.startsWith('node_modules/') || path.includes('/node_modules/')
      ? each
      : changed(each, version),
  ]);
  return printed({ ...lock, version, packages: Object.fromEntries(packages) });
}

/** Turns the section "Unreleased" into one with version and date; the next changes go above it. */
export function dated(changelog: string, version: string, day: Date): string {
  if (!/^## Unreleased$/m.test(changelog))
    throw new Error('CHANGELOG.md has no "## Unreleased": add it, with what this version changes');
  return changelog.replace(
    /^## Unreleased$/m,
    `## Unreleased\n\n## ${version} (${day.toISOString().slice(0, 10)})`,
  );
}
