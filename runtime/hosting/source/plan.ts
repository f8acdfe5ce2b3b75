import { failure } from '@twofold/runtime/errors';
import type { HealthCheck } from '../records/app.ts';
import type { BuildSettings } from '../records/build-settings.ts';
import type { Instruction } from './dockerfile-lines.ts';
import {
  assertTarget,
  type BuildArguments,
  type DockerfilePolicy,
  inspectDockerfile,
} from './dockerfile.ts';
import { generateDockerfile } from './generate.ts';
import type { ProjectFiles } from './project-files.ts';
import { healthCheckIn } from './healthcheck.ts';
import { parseIgnore } from './ignore.ts';
import { quote, refuse } from '../archives/refuse.ts';
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
  /** The Dockerfile and its instructions. */
  readonly text: string;
  readonly instructions: readonly Instruction[];
  readonly target: string | null;
  readonly args: BuildArguments;
  /** Names of the app's secrets. */
  readonly secrets: readonly string[];
}

/** What `planBuild` needs to know besides the source. */
export interface PlanOptions {
  /** The folder of the source, as a deployment from git gives it. */
  readonly path?: string;
  readonly policy: DockerfilePolicy;
  readonly settings?: BuildSettings | undefined;
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
  { path = '', policy, settings = {} }: PlanOptions,
): BuildPlan {
  const root = sourceFolder(path);
  if (!hasFolder(listing, root))
    throw failure.badRequest(`path ${JSON.stringify(path)} is not in the source`);
  const only = root === '' ? onlyFolder(listing) : null;
  const plan =
    planSource(listing, root, { policy, settings }) ??
    (only === null ? null : planSource(listing, only, { policy, settings }));
  if (plan) return plan;
  throw refuse(
    'The source has no Dockerfile, and its language is not one that can be built without (Node.js, static, Python, Go, Ruby, PHP, Rust, Java, .NET)',
  );
}

const hasFolder = ({ paths }: SourceListing, folder: string) =>
  folder === '' || [...paths].some((file) => file.startsWith(`${folder}/`));

const join = (...parts: string[]) => parts.filter((part) => part !== '').join('/');

interface Planning {
  readonly policy: DockerfilePolicy;
  readonly settings: BuildSettings;
}

/** Plans the build of a source whose root is this folder. Null when there is nothing to build. */
function planSource(
  listing: SourceListing,
  root: string,
  { policy, settings }: Planning,
): BuildPlan | null {
  const folder = join(root, sourceFolder(settings.context ?? ''));
  if (!hasFolder(listing, folder)) {
    if (onlyFolder(listing) !== null && root === '') return null;
    throw refuse(`build.context ${quote(settings.context ?? '')} is not a folder of the source`);
  }
  const found = findDockerfile(listing, { root, folder, wanted: settings.dockerfile ?? null });
  if (found) return planDockerfile(listing, folder, { ...found, policy, settings });
  if (settings.dockerfile) {
    if (onlyFolder(listing) !== null && root === '') return null;
    throw refuse(`build.dockerfile ${quote(settings.dockerfile)} is not in the source`);
  }
  return planGenerated(listing, folder, { policy, settings });
}

interface FoundDockerfile {
  /** Its path in the archive. */
  readonly path: string;
  /** Its name in the build's context: our own when it lies outside. */
  readonly name: string;
}

/** A given Dockerfile is looked for in the context, and then in the source. */
function findDockerfile(
  { paths }: SourceListing,
  {
    root,
    folder,
    wanted,
  }: { readonly root: string; readonly folder: string; readonly wanted: string | null },
): FoundDockerfile | null {
  const names = wanted === null ? DOCKERFILE_NAMES : [sourceFolder(wanted)];
  for (const name of names)
    if (paths.has(join(folder, name))) return { path: join(folder, name), name };
  const outside = wanted === null ? null : join(root, sourceFolder(wanted));
  return outside !== null && paths.has(outside)
    ? { path: outside, name: GENERATED_DOCKERFILE }
    : null;
}

/** Where a given Dockerfile may be: its text has to be loaded before the build is planned. */
export function dockerfilePaths(
  listing: SourceListing,
  {
    settings,
    path = '',
  }: { readonly settings: BuildSettings | undefined; readonly path?: string | undefined },
): readonly string[] {
  if (!settings?.dockerfile) return [];
  const context = sourceFolder(settings.context ?? '');
  const roots = [sourceFolder(path), onlyFolder(listing) ?? ''];
  return roots.flatMap((root) =>
    ['', context].map((folder) => join(root, folder, sourceFolder(settings.dockerfile as string))),
  );
}

function planDockerfile(
  listing: SourceListing,
  folder: string,
  { path, name, policy, settings }: FoundDockerfile & Planning,
): BuildPlan {
  const text = listing.manifests.get(path);
  if (text === undefined) throw refuse(`The ${quote(path)} is too large or no file`);
  const args = textsOf(settings.args ?? {});
  const facts = inspectDockerfile(text, policy, args);
  const target = settings.target ?? null;
  if (target !== null) assertTarget(facts, target);
  const ignore = parseIgnore(filesBelow(listing, folder).text('.dockerignore') ?? '');
  return {
    folder,
    text,
    target,
    args,
    dockerfile: name,
    kind: 'Dockerfile',
    images: facts.images,
    instructions: facts.instructions,
    secrets: settings.secrets ?? [],
    ignore: (file) => file !== name && ignore(file),
    extra: name === GENERATED_DOCKERFILE ? { [name]: text } : {},
    health: healthCheckIn(text, target),
  };
}

function planGenerated(
  listing: SourceListing,
  folder: string,
  { policy, settings }: Planning,
): BuildPlan | null {
  const files = filesBelow(listing, folder);
  const made = generateDockerfile(files, {
    output: settings.output?.replace(/^\.\/|\/+$/g, '') ?? null,
    args: Object.keys(settings.args ?? {}),
    secrets: settings.secrets ?? [],
  });
  if (!made) return null;
  const { images, instructions } = inspectDockerfile(made.text, policy);
  const ignore = parseIgnore(files.text('.dockerignore') ?? '');
  return {
    folder,
    images,
    instructions,
    target: null,
    args: textsOf(settings.args ?? {}),
    text: made.text,
    dockerfile: GENERATED_DOCKERFILE,
    secrets: settings.secrets ?? [],
    ignore: (path) => isLitter(path) || ignore(path),
    extra: { [GENERATED_DOCKERFILE]: made.text, ...made.files },
    kind: made.kind,
    health: null,
  };
}

const textsOf = (args: NonNullable<BuildSettings['args']>): BuildArguments =>
  Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)]));

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
