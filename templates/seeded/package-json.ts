import { capabilitiesOf, isNeededIn, type Project } from '@twofold/schema';
import { templatesOf } from '../capabilities.ts';
import { CRONER } from './croner.ts';

/** Where the project takes our packages and Node from. */
export interface PackageOptions {
  readonly source: 'vendor' | 'registry';
  /** Version of our packages. */
  readonly version: string;
  /** Whether a job has a schedule. */
  readonly schedules?: boolean;
  /** The arguments with which `tsc` checks each front end: `-p web`. */
  readonly checks?: readonly string[];
}

const NODE = '24.21.0';

/** `package.json`: a scaffold. With `vendor/`, npm does not ask a registry for our packages. */
export function renderPackageJson(project: Project, options: PackageOptions): string {
  const at = (name: string) =>
    options.source === 'vendor'
      ? `file:vendor/twofold-${name}-${options.version}.tgz`
      : `^${options.version}`;
  const packages = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`@twofold/${name}`, at(name)]));
  const pages = project.console?.ownPages?.folder;
  const checks = [...(pages === undefined ? [] : [`-p ${pages}`]), ...(options.checks ?? [])];
  const wanted = capabilitiesOf(project).map(({ name }) => name);
  const leftOut = wanted.filter((name) => !isNeededIn(project, name));
  // Editors read the JSON Schema of the manifest from `schema`. The order is that of npm.
  const used = wanted.filter((name) => !leftOut.includes(name));
  const needed = [...used, 'database', 'runtime', 'schema'].sort();
  return `${JSON.stringify(
    {
      name: packageName(project.name),
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: '>=24' },
      scripts: {
        start: 'node src/server.ts',
        dev: 'generator dev',
        generate: 'generator generate',
        check: 'generator check && npm run typecheck',
        typecheck: ['tsc', ...new Set(checks.map((each) => `tsc ${each}`))].join(' && '),
        test: 'node --test "test/**/*.test.ts"',
        migrate: 'generator migrate',
        ...Object.assign({}, ...templatesOf(project).map((each) => each.scripts?.(project))),
        generator: 'generator',
      },
      dependencies: {
        ...packages(needed),
        ...(options.schedules && { [CRONER]: '11.0.1' }),
      },
      devDependencies: {
        ...packages([...leftOut, 'generator'].sort()),
        // The types of our packages refer to the types of Koa. The running server does not need
        // them.
        '@types/koa': '^3.0.0',
        '@types/node': '^24.0.0',
        node: NODE,
        typescript: '7.0.2',
      },
      allowScripts: { node: true, ...installScripts(project) },
      // The same for pnpm 10, which does not read `allowScripts`.
      pnpm: { onlyBuiltDependencies: ['node'] },
    },
    null,
    2,
  )}\n`;
}

/** npm warns about install scripts that are neither allowed nor refused. */
function installScripts(project: Project): Record<string, false> {
  const names = templatesOf(project).flatMap((each) => each.withoutInstallScript ?? []);
  return Object.fromEntries(names.toSorted().map((name) => [name, false]));
}

/** A name that npm accepts. */
function packageName(name: string): string {
  const safe = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return safe === '' || safe === 'node_modules' || safe.startsWith('twofold')
    ? `app-${safe}`.replace(/-$/, '')
    : safe.slice(0, 200);
}
