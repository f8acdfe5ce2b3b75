import { failure } from '@twofold/runtime/errors';

/** How an app is built from its source. Null and a missing key mean the default. */
export interface BuildSettings {
  /** A file of the context or of the source. Default: `Dockerfile` or `Containerfile`. */
  readonly dockerfile?: string | null;
  /** A folder of the source. Default: all of it. */
  readonly context?: string | null;
  /** The stage to build. Default: the last one. */
  readonly target?: string | null;
  /** Values of `ARG`. They are visible in the image. */
  readonly args?: Readonly<Record<string, string | number | boolean>> | null;
  /** Names of the app's secrets that `RUN --mount=type=secret` can read. */
  readonly secrets?: readonly string[] | null;
  /** The folder that the build of a front end writes. */
  readonly output?: string | null;
}

/** Names with which a build chooses its frontend or its platform, which is not its own choice. */
const RESERVED = /^(BUILDKIT_.*|(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT))$/;

/**
 * Replaces the given keys of an app's settings. Null removes a key, or all of them.
 *
 * @throws AppError 400 for a path out of the source, and for an argument that is not a build's own.
 */
export function changeBuild(
  known: BuildSettings | undefined,
  given: BuildSettings | null,
): BuildSettings {
  if (given === null) return {};
  const changed = Object.fromEntries(
    Object.entries({ ...known, ...given }).filter(([, value]) => value !== null),
  ) as BuildSettings;
  for (const key of ['dockerfile', 'context', 'output'] as const)
    if (changed[key]) assertInside(key, changed[key]);
  const reserved = Object.keys(changed.args ?? {}).find((name) => RESERVED.test(name));
  if (reserved !== undefined)
    throw failure.badRequest(`build.args: ${reserved} is not for a build`);
  return changed;
}

function assertInside(key: string, path: string): void {
  const leaves = path.startsWith('/') || path.includes('\\') || path.split('/').includes('..');
  if (leaves || /\p{Cc}/u.test(path))
    throw failure.badRequest(
      `build.${key} must be a path in the source, without .. and without a slash at its beginning`,
    );
}
