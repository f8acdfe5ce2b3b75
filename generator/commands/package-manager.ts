import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The programs that can install a project, each with the files and commands it needs. */
export interface PackageManager {
  readonly name: PackageManagerName;
  /** Arguments for an installation with little output. */
  readonly install: readonly string[];
  /** The command that runs a script of the project. */
  run(script: string): string;
  /** Configuration files that this package manager needs in a project, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Whether it can install the package `node`, whose install script assembles the executable. */
  readonly installsNode: boolean;
}

export const PACKAGE_MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type PackageManagerName = (typeof PACKAGE_MANAGERS)[number];

/**
 * pnpm installs only if it is configured which packages may run install scripts. Only `node` needs
 * to run its script.
 */
const PNPM_WORKSPACE = `allowBuilds:
  node: true
  bcrypt: false
  cpu-features: false
  protobufjs: false
  ssh2: false
`;

/** Yarn's PnP mode has no `node_modules` folder, in which Node could find packages. */
const YARNRC = 'nodeLinker: node-modules\n';

const MANAGERS: Readonly<Record<PackageManagerName, Omit<PackageManager, 'name'>>> = {
  npm: {
    install: ['install', '--no-audit', '--no-fund', '--loglevel=error'],
    run: (script) => (script === 'start' ? 'npm start' : `npm run ${script}`),
    files: {},
    installsNode: true,
  },
  pnpm: {
    install: ['install', '--reporter=silent'],
    run: (script) => `pnpm ${script}`,
    files: { 'pnpm-workspace.yaml': PNPM_WORKSPACE },
    installsNode: true,
  },
  yarn: {
    install: ['install'],
    run: (script) => `yarn ${script}`,
    files: { '.yarnrc.yml': YARNRC },
    installsNode: false,
  },
  bun: {
    install: ['install', '--silent'],
    run: (script) => `bun run ${script}`,
    files: {},
    installsNode: true,
  },
};

/**
 * The package manager of that name; without a name, the one that started the generator, by its user
 * agent.
 *
 * @param agent `npm_config_user_agent` of the environment, as
 * `pnpm/12.21.0 npm/? node/v24.21.0 linux x64`.
 */
export function packageManager(
  name: string | undefined,
  agent: string | undefined = process.env['npm_config_user_agent'],
): PackageManager {
  const wanted = name ?? agent?.split('/')[0];
  const known = PACKAGE_MANAGERS.find((each) => each === wanted) ?? 'npm';
  return { name: known, ...MANAGERS[known] };
}

const LOCKS: Readonly<Record<PackageManagerName, string>> = {
  npm: 'package-lock.json',
  pnpm: 'pnpm-lock.yaml',
  yarn: 'yarn.lock',
  bun: 'bun.lock',
};

/**
 * The package manager that installed the project, by its lockfile; without a lockfile, the one that
 * started the generator.
 */
export function installedBy(root: string): PackageManager {
  return packageManager(PACKAGE_MANAGERS.find((name) => existsSync(join(root, LOCKS[name]))));
}
