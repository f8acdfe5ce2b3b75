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
  /** The package's folder in the repository. */
  readonly home: string;
  /** The `repository` field of the root's `package.json`. */
  readonly repository: unknown;
  /** Every file that is shipped. */
  readonly files: readonly string[];
}

/**
 * The published `package.json` of a package, for JavaScript and without fields that only the
 * repository needs. Our own packages become peer dependencies, which a package manager takes from
 * the project. As dependencies, pnpm and Yarn would look for them in the public registry, where an
 * attacker could publish a package of that name. `create-twofold` keeps its dependencies: it is
 * never vendored, and runs where there is no project yet.
 */
export function shippedManifest(
  manifest: Manifest,
  { home, repository, files }: ShippedOptions,
): object {
  const { dependencies = {}, peerDependencies = {} } = manifest;
  const kept = Object.entries(manifest).filter(([field]) => !OWN.includes(field));
  const all = Object.entries(dependencies);
  const isOurs = (name: string) => name.startsWith('@twofold/');
  const ours = ([name]: readonly [string, string]) => isOurs(manifest.name) && isOurs(name);
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
