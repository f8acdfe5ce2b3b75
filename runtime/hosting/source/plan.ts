import { failure } from '@twofold/runtime/errors';
import type { HealthCheck } from '../records/app.ts';
import { assertDockerfile, type DockerfilePolicy } from './dockerfile.ts';
import { generateDockerfile, type ProjectFiles } from './generate.ts';
import { healthCheckIn } from './healthcheck.ts';
import { parseIgnore } from './ignore.ts';
import { refuse } from './refuse.ts';
import type { SourceListing } from './tar-filter.ts';

/** How to build a source. */
export interface BuildPlan {
  /** The folder of the archive that is the build context. Empty means the root. */
  readonly folder: string;
  readonly dockerfile: string;
  readonly ignore: (path: string) => boolean;
  /** Our own files that are added to the context. */
  readonly extra: Readonly<Record<string, string>>;
  /** `Dockerfile`, or the language for which a Dockerfile was generated. */
  readonly kind: string;
  /** The HEALTHCHECK of the Dockerfile. */
  readonly health: HealthCheck | null;
  /** The images on which its Dockerfile builds. */
  readonly images: readonly string[];
}

/** A name that no project uses. */
const GENERATED_DOCKERFILE = '.twofold.Dockerfile';
const DOCKERFILE_NAMES = ['Dockerfile', 'Containerfile'];

/**
 * Uses the source's own Dockerfile, or generates one for its language. When the archive contains
 * only one folder, that folder is the root.
 *
 * @throws AppError 400 for a folder that is not there, 422 when there is nothing to build or policy
 * refuses it.
 */
export function planBuild(
  listing: SourceListing,
  { path = '', policy }: { readonly path?: string; readonly policy: DockerfilePolicy },
): BuildPlan {
  const folder = sourceFolder(path);
  if (folder !== '' && ![...listing.paths].some((file) => file.startsWith(`${folder}/`)))
    throw failure.badRequest(`path ${JSON.stringify(path)} is not in the source`);
  const only = folder === '' ? onlyFolder(listing) : null;
  const plan =
    planFolder(listing, folder, policy) ??
    (only === null ? null : planFolder(listing, only, policy));
  if (plan) return plan;
  throw refuse(
    'The source has no Dockerfile, and its language is not one that can be built without (Node.js, static, Python, Go, Ruby, PHP, Rust, Java, .NET)',
  );
}

function planFolder(
  listing: SourceListing,
  folder: string,
  policy: DockerfilePolicy,
): BuildPlan | null {
  const files = filesBelow(listing, folder);
  const ignore = parseIgnore(files.text('.dockerignore') ?? '');
  const name = DOCKERFILE_NAMES.find((candidate) => files.has(candidate));
  if (name !== undefined) {
    const text = files.text(name);
    if (text === undefined) throw refuse(`The ${name} is too large or no file`);
    const images = assertDockerfile(text, policy);
    return {
      folder,
      images,
      dockerfile: name,
      ignore: (path) => path !== name && ignore(path),
      extra: {},
      kind: 'Dockerfile',
      health: healthCheckIn(text),
    };
  }
  const made = generateDockerfile(files);
  if (!made) return null;
  const images = assertDockerfile(made.text, policy);
  return {
    folder,
    images,
    dockerfile: GENERATED_DOCKERFILE,
    ignore: (path) => isLitter(path) || ignore(path),
    extra: { [GENERATED_DOCKERFILE]: made.text, ...made.files },
    kind: made.kind,
    health: null,
  };
}

/** Files that the build creates again anyway, and that may be for another operating system. */
const isLitter = (path: string) =>
  /(^|\/)(node_modules|__pycache__|\.venv|venv|\.DS_Store)(\/|$)/.test(path);

function filesBelow({ paths, manifests }: SourceListing, folder: string): ProjectFiles {
  const prefix = folder === '' ? '' : `${folder}/`;
  return {
    has: (path) => paths.has(prefix + path),
    text: (path) => manifests.get(prefix + path),
    find: (pattern) =>
      [...paths]
        .map((path) => (path.startsWith(prefix) ? path.slice(prefix.length) : ''))
        .find((path) => pattern.test(path)),
  };
}

function onlyFolder({ paths }: SourceListing): string | null {
  const tops = new Set(
    [...paths].map((path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')),
  );
  const [top] = tops;
  return tops.size === 1 && top ? top : null;
}

/**
 * Normalises the path of a folder in the source. Empty means the root. @throws AppError 400 when it
 * leads out of the source.
 */
export function sourceFolder(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || /\p{Cc}/u.test(path))
    throw failure.badRequest('path must lead to a folder of the source');
  return parts.join('/');
}
