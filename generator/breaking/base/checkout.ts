import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, sep } from 'node:path';
import { CommandError } from '../../failure.ts';
import { git, gitLine } from './git.ts';

/** The texts of a project at a commit, in a temporary folder. */
export interface Checkout {
  /** The folder of the project. */
  readonly root: string;
  /** The folder that stands for the top of the work tree. */
  readonly top: string;
  remove(): void;
}

/** Kinds of files that belong to a comparison; pictures and archives do not. */
const TEXTS = /\.([cm]?[jt]sx?|json|graphqls?|gql|ya?ml)$|(^|\/)generator\.lock$/;

/** Configurations of compilers and packages above the project count too. */
const SETTINGS = /(^|\/)(tsconfig[^/]*|package)\.json$/;

/**
 * Writes what a commit has of a project into a temporary folder. Work tree and index stay as they
 * are, and no filter of the repository runs. Links are left out: they could lead anywhere.
 *
 * @param others files beside the project, by their path from it.
 *
 * @throws CommandError when the commit does not have the project, or an object is not here.
 */
export async function checkOut(
  project: string,
  commit: string,
  others: readonly string[],
): Promise<Checkout> {
  const { prefix, work } = await placeInWorkTree(project);
  const beside = others.map((path) => posix.join(prefix, path));
  const blobs = (await filesOf(work, commit)).filter(
    ({ path }) =>
      !path.includes('node_modules/') &&
      ((path.startsWith(prefix) && TEXTS.test(path)) ||
        SETTINGS.test(path) ||
        beside.includes(path)),
  );
  if (!blobs.some(({ path }) => isSchema(path, prefix)))
    throw new CommandError('REVISION_WITHOUT_PROJECT', {
      message: `there is no ${prefix}schema.graphql at ${commit.slice(0, 12)}`,
      fix: 'compare with a revision that has the project: --against REF',
    });
  const texts = await readBlobs(
    work,
    blobs.map(({ object }) => object),
  );
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'twofold-breaking-')));
  const remove = () => rmSync(top, { recursive: true, force: true });
  try {
    for (const [index, { path }] of blobs.entries()) writeWithin(top, path, texts[index]!);
  } catch (error) {
    remove();
    throw error;
  }
  return { root: join(top, prefix), top, remove };
}

const isSchema = (path: string, prefix: string) =>
  path === `${prefix}schema.graphql` ||
  (path.startsWith(`${prefix}schema/`) && path.endsWith('.graphql'));

/** The folder of the work tree, and the way from there to the project: `apps/shop/`. */
export async function placeInWorkTree(
  project: string,
): Promise<{ readonly work: string; readonly prefix: string }> {
  const work = await gitLine(project, ['rev-parse', '--show-toplevel']);
  const within = relative(realpathSync(work ?? project), realpathSync(project));
  return { work: work ?? project, prefix: within === '' ? '' : `${within.split(sep).join('/')}/` };
}

interface Blob {
  readonly path: string;
  readonly object: string;
}

/** The regular files of a commit. */
async function filesOf(work: string, commit: string): Promise<Blob[]> {
  const { code, out, errors } = await git(work, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  if (code !== 0) throw unreadable(commit, errors);
  return out
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, object, path] = /^100\d{3} blob (\w+)\t([^]+)$/.exec(line) ?? [];
      return object && path ? [{ path, object }] : [];
    });
}

async function readBlobs(work: string, objects: readonly string[]): Promise<Buffer[]> {
  const { out, errors } = await git(work, ['cat-file', '--batch'], `${objects.join('\n')}\n`);
  const texts: Buffer[] = [];
  let at = 0;
  for (const object of objects) {
    const end = out.indexOf(10, at);
    const [, , size] = out.toString('latin1', at, end).split(' ');
    // Git answers `<object> missing` in a partial clone. Here no other machine is asked for the
    // object.
    if (end < 0 || !/^\d+$/.test(size ?? '')) throw unreadable(object, errors);
    texts.push(out.subarray(end + 1, end + 1 + Number(size)));
    at = end + 2 + Number(size);
  }
  return texts;
}

function unreadable(object: string, errors: string): CommandError {
  return new CommandError('REVISION_UNREADABLE', {
    message: `git cannot read ${object.slice(0, 12)}${errors ? `: ${errors.trim().split('\n')[0]}` : ''}`,
    fix: 'git fetch, with the whole history that is compared',
  });
}

/** A tree of git has no `..`; a damaged one may. */
function writeWithin(top: string, path: string, text: Buffer): void {
  const target = join(top, path);
  if (!target.startsWith(`${top}${sep}`)) return;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
