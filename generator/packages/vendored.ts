const PACK = /^twofold-(\w+)-(\d+\.\d+\.\d+(?:-[0-9a-z.-]+)?)\.tgz$/i;

/** A tarball of one of our packages, by its file name. */
export interface PackName {
  readonly file: string;
  /** The name in our scope: `runtime` of `@twofold/runtime`. */
  readonly short: string;
  readonly version: string;
}

/**
 * Reads the file name of a pack; null for other files. The pack of `create-twofold` is none: no
 * project depends on it.
 *
 * @example packNameOf('twofold-runtime-0.2.0.tgz') // { short: 'runtime', version: '0.2.0', … }
 */
export function packNameOf(file: string): PackName | null {
  const [, short, version] = PACK.exec(file) ?? [];
  return short === undefined || version === undefined ? null : { file, short, version };
}

/** Whether a file is a pack that a project has in its `vendor` folder. */
export const isVendored = (file: string): boolean => packNameOf(file) !== null;
