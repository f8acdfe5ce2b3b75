import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { releaseOf, type Project } from '@twofold/schema';
import { renderEnv, renderEnvExample, type DatabaseKind } from '../../templates/seeded/env.ts';
import { defaultsLine } from '../../templates/starter/manifest-lines.ts';
import { starters, type Starter, type StarterName } from '../../templates/starter/index.ts';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { isCheckout, packageVersion } from '../version.ts';
import { isVendored } from '../packages/vendored.ts';
import { run as runPipeline, type RunPlan } from '../pipeline.ts';
import { changeAsData } from '../report.ts';
import { randomSecret } from '../secrets.ts';
import { disk, hasCode, makeFolder } from '../write/disk.ts';
import { installPackages, serve } from './install.ts';
import { reportBrokenInputs } from './outcome.ts';
import { packageManager, type PackageManager } from './package-manager.ts';

interface InitOptions {
  readonly root: string;
  readonly name: string;
  readonly template: StarterName;
  readonly database: DatabaseKind;
  readonly vendor: boolean;
  readonly manager: PackageManager;
}

/**
 * `generator init [DIR]`: writes the two inputs, generates the project and installs its packages.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { options, terminal } = call;
  const init = readOptions(call);
  await assertEmpty(init.root, options['force'] === true);
  const written = await writeInputs(init);
  const plan = await runPipeline(init.root, {}, disk);
  if (!plan.project) return reportBrokenInputs(plan, call);
  await writeEnv(init, plan.project);
  await writeExample(init, plan);
  if (!init.manager.installsNode) await leaveOutNode(init.root);
  const created = written + plan.changes.filter(({ kind }) => kind === 'create').length;
  terminal.note(
    `${terminal.paint.green('created')}  ${init.name} in ${init.root}: ${created} file${created === 1 ? '' : 's'}`,
  );
  const installed = options['no-install'] !== true && (await installPackages(init, terminal));
  reportInit(init, { plan, installed }, call);
  return options['start'] ? serve(init.root, terminal) : EXIT.done;
}

function readOptions({ options, positionals, cwd }: CommandCall): InitOptions {
  const root = resolve(cwd, positionals[0] ?? '.');
  const name = options['name'] === undefined ? nameOf(basename(root)) : String(options['name']);
  if (!NAME.test(name))
    throw new CommandError('NAME_INVALID', {
      message: `${JSON.stringify(name)} is not a name for a project: lower case letters, digits and dashes, a letter first`,
      fix: `--name ${nameOf(name)}`,
    });
  const packages = options['packages'] ?? (isCheckout() ? 'vendor' : 'registry');
  return {
    root,
    name,
    template: (options['template'] ?? 'starter') as StarterName,
    database: (options['database'] ?? 'sqlite') as DatabaseKind,
    vendor: packages === 'vendor',
    manager: packageManager(options['manager'] as string | undefined),
  };
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/;

/** `My Shop` → `my-shop`. */
function nameOf(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 63);
  return name === '' ? 'app' : name;
}

/** A folder that contains only version control counts as empty. */
async function assertEmpty(root: string, force: boolean): Promise<void> {
  const names = await listFolder(root);
  const others = names.filter((name) => name !== '.git' && name !== '.DS_Store');
  if (others.length === 0 || force) return;
  throw new CommandError('NOT_EMPTY', {
    message: `${root} is not empty (${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''})`,
    fix: 'name another folder, or use --force, which overwrites no file',
  });
}

async function listFolder(root: string): Promise<string[]> {
  try {
    return await readdir(root);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    if (hasCode(error, 'ENOTDIR'))
      throw new CommandError('NOT_A_FOLDER', {
        message: `${root} is a file`,
        fix: 'name another folder',
      });
    throw error;
  }
}

/** The manifest with the release whose defaults it has, after the name. */
const withDefaults = (manifest: string): string =>
  manifest.replace(/^name: .*\n/m, (line) => line + defaultsLine(releaseOf(packageVersion())));

/** Writes the two inputs, the template's own files and our packages. Existing files are kept. */
async function writeInputs(init: InitOptions): Promise<number> {
  const { root, name, template, vendor, manager } = init;
  const starter = starters[template];
  const texts = {
    'schema.graphql': starter.schema,
    'manifest.yaml': withDefaults(starter.manifest(name)),
    ...starter.files,
    ...manager.files,
  };
  const created = await Promise.all(
    Object.entries(texts).map(([path, text]) => writeNew(join(root, path), text)),
  );
  if (vendor) {
    const { packPackages } = await import('../packages/pack.ts');
    const packs = await packPackages();
    for (const { name: file, bytes } of packs.filter(({ name: each }) => isVendored(each)))
      await writeNew(join(root, 'vendor', file), bytes);
  }
  return created.filter(Boolean).length;
}

/**
 * Without this dependency the project runs on the installed Node. Later runs treat the removal as
 * an edit of the user, and keep it.
 */
async function leaveOutNode(root: string): Promise<void> {
  const path = join(root, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  delete manifest.devDependencies['node'];
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Secrets are never in the manifest and never committed; only the owner can read the file. */
async function writeEnv({ root, database }: InitOptions, project: Project): Promise<void> {
  await writeNew(join(root, '.env'), renderEnv(project, { database, secret: randomSecret }), 0o600);
}

/**
 * A run writes this file for SQLite. It treats another database as an edit of the user, and keeps
 * it.
 */
async function writeExample({ root, database }: InitOptions, plan: RunPlan): Promise<void> {
  const made = plan.changes.some(({ path, kind }) => path === '.env.example' && kind === 'create');
  if (made && database !== 'sqlite')
    await writeFile(join(root, '.env.example'), renderEnvExample(plan.project!, database));
}

async function writeNew(path: string, text: string | Uint8Array, mode = 0o666): Promise<boolean> {
  makeFolder(dirname(path));
  try {
    await writeFile(path, text, { flag: 'wx', mode });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function reportInit(
  { root, template, manager }: InitOptions,
  { plan, installed }: { plan: RunPlan; installed: boolean },
  { terminal, options, cwd }: CommandCall,
): void {
  const next = [
    ...(root === resolve(cwd) ? [] : [`cd ${quoted(relative(resolve(cwd), root))}`]),
    ...(installed ? [] : [`${manager.name} install`]),
    manager.run('start'),
    manager.run('dev'),
  ].slice(0, 3);
  if (terminal.json)
    return terminal.document({
      ok: true,
      root,
      installed,
      files: plan.changes.map(changeAsData),
      next,
    });
  if (options['quiet']) return;
  const { port } = plan.project!.server;
  const starter: Starter = starters[template];
  terminal.note(`\nNext:\n${next.map((line) => `  ${line}`).join('\n')}\n`);
  if (plan.project!.console)
    terminal.note(
      'The server prints a link "Console: …": open it to see and change rows in the browser.',
    );
  terminal.note(
    `Then ask http://localhost:${port}${plan.project!.api.path} for ${starter.query}${starter.caller ? credential(starter.caller, port) : ''}`,
  );
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const credential = (caller: 'user' | 'host', port: number) =>
  caller === 'user'
    ? `\nwith the accessToken that POST http://localhost:${port}/api/auth/register gives for { "email": …, "password": … } as a Bearer token`
    : `\nwith the token that POST http://localhost:${port}/api/auth/login gives for { "password": the HOST_PASSWORD of .env } as a Bearer token`;
