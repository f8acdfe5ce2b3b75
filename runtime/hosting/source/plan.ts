import { failure } from '@twofold/runtime/errors';
import type { HealthCheck } from '../records/app.ts';
import { assertDockerfile, type DockerfilePolicy } from './dockerfile.ts';
import { generateDockerfile, type ProjectFiles } from './generate.ts';
import { healthCheckIn } from './healthcheck.ts';
import { parseIgnore } from './ignore.ts';
import { refuse } from './refuse.ts';
import type { SourceListing } from './tar-filter.ts';

/** How a source is built. */
export interface BuildPlan {
  /** The folder of the archive that is the context; empty is the root. */
  readonly folder: string;
  readonly dockerfile: string;
  readonly ignore: (path: string) => boolean;
  /** Files of ours, added to the context. */
  readonly extra: Readonly<Record<string, string>>;
  /** `Dockerfile`, or the language that one was made for. */
  readonly kind: string;
  /** The HEALTHCHECK of the Dockerfile. */
  readonly health: HealthCheck | null;
  /** What its Dockerfile builds on, by name. */
  readonly images: readonly string[];
}

/** Named so that no project has it. */
const GENERATED = '.twofold.Dockerfile';
const NAMES = ['Dockerfile', 'Containerfile'];

/**
 * The source's own Dockerfile, or one made for its language. An archive of one folder means what is
 * in it.
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
  const name = NAMES.find((candidate) => files.has(candidate));
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
    dockerfile: GENERATED,
    ignore: (path) => isLitter(path) || ignore(path),
    extra: { [GENERATED]: made.text, ...made.files },
    kind: made.kind,
    health: null,
  };
}

/** What is installed or built again in the image anyway, and may be for another system. */
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
 * A folder of the source in one form; empty is its root. @throws AppError 400 when it climbs out.
 */
export function sourceFolder(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || /\p{Cc}/u.test(path))
    throw failure.badRequest('path must lead to a folder of the source');
  return parts.join('/');
}
