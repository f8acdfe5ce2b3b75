/** A `package.json` of this repository. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** Fields that only the repository needs. */
const OWN = [
  'private',
  'workspaces',
  'scripts',
  'devDependencies',
  'allowScripts',
  'config',
  'overrides',
];

export interface ShippedOptions {
  /** Where it stands in the repository. */
  readonly home: string;
  /** What the repository itself says of where it is. */
  readonly repository: unknown;
  /** Every file that is shipped. */
  readonly files: readonly string[];
}

/**
 * The package's own `package.json`, for JavaScript: nothing that only the repo needs. Packages of ours become peers, which a
 * package manager takes from the project: as dependencies pnpm and Yarn would look for them in the public registry, where
 * somebody else could publish one under that name.
 */
export function shippedManifest(
  manifest: Manifest,
  { home, repository, files }: ShippedOptions,
): object {
  const { dependencies = {}, peerDependencies = {} } = manifest;
  const kept = Object.entries(manifest).filter(([field]) => !OWN.includes(field));
  const all = Object.entries(dependencies);
  const ours = ([name]: readonly [string, string]) => name.startsWith('@twofold/');
  return {
    ...Object.fromEntries(kept),
    repository: { ...(repository as object), ...(home !== '.' && { directory: home }) },
    exports: exportsOf(manifest),
    files: [...new Set(files.map((file) => file.split('/')[0]))].sort(),
    dependencies: Object.fromEntries(all.filter((each) => !ours(each))),
    peerDependencies: { ...Object.fromEntries(all.filter(ours)), ...peerDependencies },
    publishConfig: { access: 'public', provenance: true },
  };
}

const exportsOf = (manifest: Manifest) =>
  Object.fromEntries(
    Object.entries(manifest.exports ?? {}).map(([name, path]) => [
      name,
      path.endsWith('.ts')
        ? { types: path.replace(/\.ts$/, '.d.ts'), default: path.replace(/\.ts$/, '.js') }
        : path,
    ]),
  );
