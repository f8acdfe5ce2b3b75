import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from '../../failure.ts';
import { gitLine } from './git.ts';

/** The side that the folder is compared with. */
export type Against =
  | { readonly kind: 'commit'; readonly ref: string; readonly commit: string }
  | { readonly kind: 'file'; readonly file: string; readonly path: string };

const FALLBACK = 'name a revision of this repository, or an SDL file: --against main';

/**
 * Finds the revision or the file. Without a name it is the merge base with the default branch of
 * `origin`, else the last commit.
 *
 * @throws CommandError when there is none.
 */
export async function findAgainst(root: string, name: string | undefined): Promise<Against> {
  if (name !== undefined && isFile(root, name) && /\.(graphqls?|gql)$/.test(name))
    return { kind: 'file', file: name, path: resolve(root, name) };
  const inGit = await gitLine(root, ['rev-parse', '--is-inside-work-tree']);
  if (inGit !== 'true')
    throw new CommandError('GIT_MISSING', {
      message: `${root} is in no git work tree`,
      fix: 'git init, or compare with an SDL file: --against FILE',
    });
  if (name === undefined) return defaultBase(root);
  const commit = await commitOf(root, name);
  if (commit !== null) return { kind: 'commit', ref: name, commit };
  if (isFile(root, name)) return { kind: 'file', file: name, path: resolve(root, name) };
  throw new CommandError('REVISION_UNKNOWN', {
    message: `${name} is no revision of this repository and no file`,
    fix: FALLBACK,
  });
}

async function defaultBase(root: string): Promise<Against> {
  const fork = await gitLine(root, ['merge-base', 'HEAD', 'origin/HEAD']);
  if (fork) return { kind: 'commit', ref: 'origin/HEAD', commit: fork };
  const head = await commitOf(root, 'HEAD');
  if (head !== null) return { kind: 'commit', ref: 'HEAD', commit: head };
  throw new CommandError('REVISION_UNKNOWN', { message: 'there is no commit yet', fix: FALLBACK });
}

/** `--end-of-options` keeps git from reading a name with a dash at its beginning as an option. */
const commitOf = (root: string, name: string) =>
  gitLine(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);

function isFile(root: string, name: string): boolean {
  return statSync(resolve(root, name), { throwIfNoEntry: false })?.isFile() ?? false;
}
