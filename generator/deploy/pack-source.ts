import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { CommandError } from '../failure.ts';
import { InvalidPathError, createTarball, type TarEntry } from '../packages/tarball.ts';
import { parseDockerignore, parseGitignore, type IgnoreRules } from './ignore.ts';

/** The packed project. */
export interface PackedSource {
  readonly archive: Buffer;
  readonly paths: readonly string[];
  /** Files that were left out because they look like secrets; they are reported. */
  readonly secrets: readonly string[];
}

/** Files from which the image is built. They are sent even if an ignore file names them. */
const ALWAYS_SENT = /^(package(-lock)?\.json|Dockerfile|vendor\/twofold-[^/]+\.tgz)$/;
/** Never sent: files that can be made again, local files and the git history. */
const NEVER_SENT = /(^|\/)(node_modules|\.git|\.generator|\.DS_Store)$/;
const ENVIRONMENT = /(^|\/)\.env(\.(?!example$|sample$|template$)[^/]*)?$/;
const KEY_FILE = /(^|\/)(id_(rsa|dsa|ecdsa|ed25519)|[^/]+\.(pem|key|p12|pfx))$/;
/** Bytes of all files together, unpacked. A server accepts a smaller packed archive. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Packs a project for a build on a server: the user's files and the generated ones, without the
 * files that `.gitignore` and `.dockerignore` name, and never with a secret, except the files that
 * `also` names. The same files give the same bytes.
 *
 * @throws CommandError for a link out of the project, a path that is too long, and a project that is
 * too large.
 */
export async function packSource(
  root: string,
  also: readonly string[] = [],
): Promise<PackedSource> {
  const dockerignore = parseDockerignore(await textOf(join(root, '.dockerignore')));
  const found: FoundFiles = { entries: [], secrets: [], bytes: 0 };
  await walk({ root, folder: '', git: [], docker: { rules: dockerignore, ignored: false } }, found);
  for (const path of also) await addNamed(root, path, found);
  const paths = found.entries.map(({ path }) => path).sort();
  return { archive: archiveOf(found.entries), paths, secrets: found.secrets };
}

/** Adds a file that the caller names itself, whatever it holds. One that is not there is left out. */
async function addNamed(root: string, path: string, found: FoundFiles): Promise<void> {
  const leaf = found.entries.some((entry) => entry.path === path);
  const bytes = leaf ? null : await readFile(join(root, path)).catch(() => null);
  if (bytes) found.entries.push({ path, bytes });
  found.secrets = found.secrets.filter((secret) => secret !== path);
}

interface FoundFiles {
  readonly entries: TarEntry[];
  secrets: string[];
  bytes: number;
}

interface Visit {
  readonly root: string;
  readonly folder: string;
  /**
   * The rules of `.gitignore` in this folder and those above it, outermost first, each with its
   * folder.
   */
  readonly git: readonly { readonly base: string; readonly rules: IgnoreRules }[];
  readonly docker: { readonly rules: IgnoreRules; readonly ignored: boolean };
}

async function walk({ root, folder, git: above, docker }: Visit, found: FoundFiles): Promise<void> {
  const own = await textOf(join(root, folder, '.gitignore'));
  const git = own === '' ? above : [...above, { base: folder, rules: parseGitignore(own) }];
  const entries = (await readdir(join(root, folder), { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (NEVER_SENT.test(path)) continue;
    const isFolder = entry.isDirectory();
    const ignored = docker.rules(path, isFolder) ?? docker.ignored;
    const vendored = isFolder && path === 'vendor';
    if (isFolder) {
      if (!vendored && isGitIgnored(path, { git, folder: true })) continue;
      await walk({ root, folder: path, git, docker: { rules: docker.rules, ignored } }, found);
    } else if (ALWAYS_SENT.test(path) || !(ignored || isGitIgnored(path, { git, folder: false }))) {
      await addFile({ root, path, link: entry.isSymbolicLink(), plain: entry.isFile() }, found);
    }
  }
}

function isGitIgnored(
  path: string,
  { git, folder }: { readonly git: Visit['git']; readonly folder: boolean },
): boolean {
  for (const { base, rules } of git.toReversed()) {
    const decided = rules(base === '' ? path : path.slice(base.length + 1), folder);
    if (decided !== null) return decided;
  }
  return false;
}

/** Adds one file. Sockets and other special files are left out. */
async function addFile(
  { root, path, link, plain }: { root: string; path: string; link: boolean; plain: boolean },
  found: FoundFiles,
): Promise<void> {
  if (link) {
    found.entries.push({ path, bytes: new Uint8Array(), target: await linkInside(root, path) });
    return;
  }
  if (!plain) return;
  if (ENVIRONMENT.test(path)) return void found.secrets.push(path);
  const bytes = await readFile(join(root, path));
  if (isSecret(path, bytes)) return void found.secrets.push(path);
  found.bytes += bytes.length;
  if (found.bytes > MAX_BYTES)
    throw new CommandError('SOURCE_TOO_LARGE', {
      message: `the project holds more than ${MAX_BYTES / 1024 / 1024} MiB of files; ${path} is where it became too much`,
      fix: 'name what no build needs in .dockerignore',
    });
  const { mode, mtimeMs } = await stat(join(root, path));
  const mtime = Math.max(0, Math.floor(mtimeMs / 1000));
  found.entries.push({ path, bytes, executable: (mode & 0o100) !== 0, mtime });
}

function isSecret(path: string, bytes: Buffer): boolean {
  if (/(^|\/)\.npmrc$/.test(path))
    return /_(auth|authToken|password)\s*=\s*(?!\$\{)\S/i.test(bytes.toString('utf8'));
  return KEY_FILE.test(path) && (/\.(p12|pfx)$/.test(path) || bytes.includes('PRIVATE KEY-----'));
}

async function linkInside(root: string, path: string): Promise<string> {
  const target = (await readlink(join(root, path))).replaceAll('\\', '/');
  const reached = posix.normalize(posix.join(posix.dirname(path), target));
  if (!posix.isAbsolute(target) && reached !== '..' && !reached.startsWith('../')) return target;
  throw new CommandError('LINK_LEADS_OUT', {
    message: `${path} is a link to ${target}, which is not part of the project`,
    fix: `put a copy in its place, or name ${path} in .dockerignore`,
  });
}

function archiveOf(entries: readonly TarEntry[]): Buffer {
  try {
    return createTarball(entries, { folder: '', level: 6 });
  } catch (error) {
    if (!(error instanceof InvalidPathError)) throw error;
    throw new CommandError('PATH_TOO_LONG', {
      message: error.message,
      fix: 'shorten the path, or name it in .dockerignore',
    });
  }
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
