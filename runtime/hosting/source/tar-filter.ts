import { posix } from 'node:path';
import { quote, refuse } from '../archives/refuse.ts';
import { readTar, type TarEntry, type TarMember } from '../archives/tar-read.ts';
import { writeTar } from '../archives/tar-write.ts';

/** The limits of an archive after it was unpacked, in bytes and members. */
export interface SourceLimits {
  readonly entries: number;
  readonly file: number;
  readonly total: number;
}

/** Facts about an archive that were collected while it was filtered. */
export interface SourceListing {
  /** Files and links, without directories. */
  readonly paths: Set<string>;
  /** The small files that show the kind of project, by path. */
  readonly manifests: Map<string, string>;
  bytes: number;
}

export const createListing = (): SourceListing => ({
  paths: new Set(),
  manifests: new Map(),
  bytes: 0,
});

/** Names of files, in any folder, that tell which kind of project the source is. */
const MANIFESTS: ReadonlySet<string> = new Set([
  'Dockerfile',
  'Containerfile',
  '.dockerignore',
  'package.json',
  'Procfile',
  'requirements.txt',
  'pyproject.toml',
  'go.mod',
  'Gemfile',
  'composer.json',
  'Cargo.toml',
  'pom.xml',
  'runtime.txt',
  '.nvmrc',
  '.node-version',
  'angular.json',
]);
const SITE_SETTINGS =
  /^(\.eleventy\.[mc]?js|(next|astro|svelte|vite|eleventy)\.config\.[mc]?[jt]s)$/;
/** These count only at the top. */
const DOTNET_PROJECT = /^[^/]+\.(csproj|fsproj)$/;

function namesManifest(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return MANIFESTS.has(name) || SITE_SETTINGS.test(name) || DOTNET_PROJECT.test(path);
}

const MANIFEST_BYTES = 256 * 1024;
const MANIFEST_COUNT = 200;

/**
 * Filters an untrusted tar into one that is safe for an engine: files, directories and links that
 * stay inside, owned by root, with plain modes. Nothing is unpacked to disk. Docker and Podman
 * differ in what an archive can do to the host, so the dangerous members are removed or refused
 * before.
 *
 * @throws AppError 422 that names the member and what is wrong with it.
 */
export function filterTar(
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
  listing: SourceListing,
): AsyncGenerator<Buffer> {
  return writeTar(safeMembers(readTar(chunks), limits, listing));
}

async function* safeMembers(
  members: AsyncIterable<TarMember>,
  limits: SourceLimits,
  listing: SourceListing,
): AsyncGenerator<TarMember> {
  const check = createChecks(limits);
  for await (const member of members) {
    const path = check(member);
    // Omitted members count too, because they were sent and have to be read.
    listing.bytes += member.size;
    if (listing.bytes > limits.total)
      throw refuse(`The archive holds more than ${limits.total} bytes`);
    if (path === null || isLeftOut(path)) continue;
    if (member.kind !== 'directory') listing.paths.add(path);
    yield {
      ...member,
      path,
      mode: modeOf(member),
      mtime: timeOf(member),
      data: isManifest(path, member, listing) ? keepText(path, member, listing) : member.data,
    };
  }
  if (listing.paths.size === 0) throw refuse('The archive holds no files');
}

function isManifest(path: string, { kind, size }: TarEntry, { manifests }: SourceListing): boolean {
  return (
    kind === 'file' &&
    namesManifest(path) &&
    size <= MANIFEST_BYTES &&
    manifests.size < MANIFEST_COUNT
  );
}

async function* keepText(path: string, { data }: TarMember, { manifests }: SourceListing) {
  const chunks = await Array.fromAsync(data);
  manifests.set(path, Buffer.concat(chunks).toString('utf8'));
  yield* chunks;
}

/** The history of git and local settings do not belong in an image. */
const isLeftOut = (path: string) =>
  path.split('/').includes('.git') || posix.basename(path) === '.env';

/** Only the owner may write; setuid, setgid and sticky bits are removed. */
const modeOf = ({ kind, mode }: TarEntry) =>
  kind === 'directory' ? 0o755 : kind === 'symlink' ? 0o777 : (mode & 0o755) | 0o644;

/**
 * Unix seconds. Earlier times (before 1 January 1980, UTC) are not real: archive programs write 0
 * or the first day that zip can store.
 */
const EARLIEST_TIME = 315_532_800;
/** The time that `npm pack` sets for every file: 1985-10-26T08:15:00Z. */
const NPM_TIME = 499_162_500;

/**
 * The member's own time, because web servers derive a file's version from its time. 0 when the time
 * is missing or not credible; the time of the deployment is set later.
 */
const timeOf = ({ mtime }: TarEntry) =>
  mtime > EARLIEST_TIME && mtime !== NPM_TIME && mtime * 1000 <= Date.now() ? mtime : 0;

/**
 * Creates a check to call once for each member, in their order, because the result depends on the
 * members before. @returns the path, or null for the root itself.
 */
function createChecks(limits: SourceLimits): (entry: TarEntry) => string | null {
  const files = new Set<string>();
  const links = new Set<string>();
  const folders = new Set<string>();
  let count = 0;
  return (entry) => {
    count += 1;
    if (count > limits.entries)
      throw refuse(`The archive holds more than ${limits.entries} entries`);
    const path = safePath(entry.path);
    if (entry.kind === 'other' || entry.kind === 'hardlink')
      throw refuse(
        `${quote(entry.path)} is ${entry.kind === 'hardlink' ? 'a hard link' : 'a device or special file'}, which is not allowed`,
      );
    if (path === null) return null;
    if (entry.size > limits.file)
      throw refuse(`${quote(path)} is larger than ${limits.file} bytes`);
    for (const parent of parentsOf(path)) {
      if (links.has(parent) || files.has(parent))
        throw refuse(`${quote(path)} lies below ${quote(parent)}, which is no directory`);
      folders.add(parent);
    }
    if (entry.kind === 'directory') {
      if (links.has(path) || files.has(path)) throw refuse(`${quote(path)} is there twice`);
      folders.add(path);
      return path;
    }
    if (files.has(path) || links.has(path) || folders.has(path))
      throw refuse(`${quote(path)} is there twice`);
    if (entry.kind === 'symlink') {
      assertTarget(path, entry.target);
      links.add(path);
    } else files.add(path);
    return path;
  };
}

function safePath(raw: string): string | null {
  if (raw.includes('\0') || Buffer.byteLength(raw) > 1024)
    throw refuse(`${quote(raw)} is not an allowed name`);
  const parts = raw.split('/').filter((part) => part !== '' && part !== '.');
  if (raw.startsWith('/') || /^[A-Za-z]:(\\|$)/.test(parts[0] ?? ''))
    throw refuse(`${quote(raw)} is an absolute path`);
  if (parts.includes('..')) throw refuse(`${quote(raw)} leads out of the archive`);
  if (/\p{Cc}/u.test(raw)) throw refuse(`${quote(raw)} is not an allowed name`);
  return parts.length === 0 ? null : parts.join('/');
}

function assertTarget(path: string, target: string): void {
  const outside = () => refuse(`The link ${quote(path)} leads out of the archive`);
  if (
    target === '' ||
    target.startsWith('/') ||
    Buffer.byteLength(target) > 1024 ||
    /\p{Cc}/u.test(target)
  )
    throw outside();
  // Each step is checked, even if a later one leads back inside: a part of the path may be a link
  // to elsewhere.
  let depth = path.split('/').length - 1;
  for (const part of target.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) throw outside();
  }
}

function* parentsOf(path: string): Generator<string> {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1))
    yield path.slice(0, slash);
}
