import { type FrontEnd, frontEndOf } from './front-end.ts';
import {
  type GeneratedDockerfile,
  type Generator,
  type GeneratorSettings,
  lines,
  type PackageJson,
  parseJson,
  procfile,
  type ProjectFiles,
  shell,
} from './project-files.ts';
import { staticStage } from './static/image.ts';

type Manager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** A server, or a front end that is built and served as files. */
export const node: Generator = (files, settings) => {
  const manifest = parseJson<PackageJson>(files.text('package.json'));
  if (!manifest) return null;
  const project: NodeProject = { files, manifest, settings, manager: managerOf(files) };
  const started = procfile(files);
  const frontEnd = started === undefined ? frontEndOf(files, manifest, settings.output) : null;
  return frontEnd ? frontEndFile(project, frontEnd) : serverFile(project, started);
};

interface NodeProject {
  readonly files: ProjectFiles;
  readonly manifest: PackageJson;
  readonly settings: GeneratorSettings;
  readonly manager: Manager;
}

function managerOf(files: ProjectFiles): Manager {
  if (files.has('bun.lockb') || files.has('bun.lock')) return 'bun';
  if (files.has('pnpm-lock.yaml')) return 'pnpm';
  return files.has('yarn.lock') ? 'yarn' : 'npm';
}

const ENTRIES =
  'server.js server.ts index.js index.ts app.js src/server.ts src/index.ts src/index.js'.split(' ');

function serverFile(project: NodeProject, started: string | undefined): GeneratedDockerfile | null {
  const { files, manifest, manager } = project;
  const { scripts = {}, main } = manifest;
  const entry = main ?? ENTRIES.find((path) => files.has(path));
  const runs = entry ? `${manager === 'bun' ? 'bun' : 'node'} ${entry}` : undefined;
  const start = started ?? (scripts['start'] ? `${manager} start` : runs);
  if (start === undefined) return null;
  const { prune } = COMMANDS[manager](files);
  const corepack = (manager === 'pnpm' || manager === 'yarn') && start.startsWith(manager);
  return {
    kind: `node (${manager})`,
    text: lines(
      ...buildStage(project),
      scripts['build'] !== undefined && prune !== undefined && `RUN ${prune}`,
      '',
      `FROM ${imageOf(project)}`,
      'WORKDIR /app',
      'ENV NODE_ENV=production',
      corepack && 'RUN corepack enable',
      'COPY --from=build /app /app',
      `USER ${manager === 'bun' ? 'bun' : 'node'}`,
      shell(start),
    ),
  };
}

/** The beginning of the message when a build has no output. The builder recognises it. */
export const NO_OUTPUT = 'The build wrote no files to ';

function frontEndFile(
  project: NodeProject,
  { kind, outputs, mode }: FrontEnd,
): GeneratedDockerfile {
  const { lines: stage, files } = staticStage('--from=build /www', mode);
  const places = outputs.map(quoted).join(' ');
  const message = `${NO_OUTPUT}${outputs.join(', ')}: set build.output to the folder that it writes`;
  return {
    kind: `${kind === 'files' ? 'a front end' : kind} (${project.manager})`,
    text: lines(
      ...buildStage(project),
      `RUN for folder in ${places}; do if [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then cp -a "$folder" /www && exit 0; fi; done; echo ${quoted(message)}; exit 66`,
      '',
      ...stage,
    ),
    files,
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Installs the packages in a layer of their own, and runs the script `build`. */
function buildStage(project: NodeProject): (string | false)[] {
  const { files, manifest, manager, settings } = project;
  const run = withSecrets(settings.secrets);
  return [
    `FROM ${imageOf(project)} AS build`,
    'WORKDIR /app',
    (manager === 'pnpm' || manager === 'yarn') && 'RUN corepack enable',
    `COPY package.json ${LOCKFILES} ./`,
    run(COMMANDS[manager](files).install),
    'COPY . .',
    ...settings.args.map((name) => `ARG ${name}`),
    manifest.scripts?.['build'] !== undefined && run(`${manager} run build`),
  ];
}

/** Secrets are variables of the one command, as `.npmrc` and build scripts expect them. */
function withSecrets(secrets: readonly string[]): (command: string) => string {
  const mounts = secrets.map((name) => `--mount=type=secret,id=${name} `).join('');
  const variables = secrets.map(
    (name) => `${name}="$(cat /run/secrets/${name})" && export ${name} && `,
  );
  return (command) =>
    `RUN ${mounts}${variables.join('')}${secrets.length > 0 ? `{ ${command}; }` : command}`;
}

function imageOf({ files, manifest, manager }: NodeProject): string {
  if (manager === 'bun') return 'docker.io/oven/bun:1';
  const text = files.text('.nvmrc') ?? files.text('.node-version') ?? manifest.engines?.node ?? '';
  return `docker.io/library/node:${nodeMajor(text)}-slim`;
}

/** Globs, because COPY fails for a plain name that does not exist. */
const LOCKFILES =
  'package-lock.jso[n] npm-shrinkwrap.jso[n] yarn.loc[k] pnpm-lock.yam[l] bun.loc[k] bun.lock[b] .npmr[c]';

const COMMANDS: Readonly<
  Record<Manager, (files: ProjectFiles) => { readonly install: string; readonly prune?: string }>
> = {
  npm: (files) => ({
    install:
      files.has('package-lock.json') || files.has('npm-shrinkwrap.json')
        ? 'npm ci --no-audit --no-fund'
        : 'npm install --no-audit --no-fund',
    prune: 'npm prune --omit=dev --no-audit --no-fund',
  }),
  pnpm: () => ({ install: 'pnpm install --frozen-lockfile', prune: 'pnpm prune --prod' }),
  yarn: () => ({ install: 'yarn install --immutable || yarn install --frozen-lockfile' }),
  bun: () => ({ install: 'bun install --frozen-lockfile' }),
};

/** The majors with long-term support, newest first, with the names that nvm uses in `lts/…`. */
const LTS = {
  krypton: 24,
  jod: 22,
  iron: 20,
  hydrogen: 18,
  gallium: 16,
  fermium: 14,
  erbium: 12,
  dubnium: 10,
} as const;
const MAJORS: readonly number[] = Object.values(LTS);
const NEWEST = MAJORS[0] as number;

/**
 * Chooses the newest major of Node.js with long-term support that a project's version text allows.
 * The text is a version, a name of nvm or a range of npm. If the text names only a major without
 * long-term support, such as `23`, that major is returned.
 *
 * @example
 * nodeMajor('>=12') // 24
 * nodeMajor('14 || 16') // 16
 * nodeMajor('lts/hydrogen') // 18
 */
export function nodeMajor(text: string): number {
  const wanted = text.trim().toLowerCase();
  const name = /^lts\/(\w+)$/.exec(wanted)?.[1];
  if (name !== undefined) return LTS[name as keyof typeof LTS] ?? NEWEST;
  const ranges = wanted.split('||').map(toMajors);
  const found = MAJORS.find((major) => ranges.some((holds) => holds(major)));
  return found ?? exactMajor(wanted) ?? NEWEST;
}

const exactMajor = (text: string): number | null => {
  const major = Number(/^[v=^~]*(\d{1,2})(?:\.|$)/.exec(text)?.[1] ?? Number.NaN);
  return Number.isNaN(major) ? null : major;
};

/**
 * Whether a range includes any version of a major. All comparators of the range, separated by
 * spaces, must include it.
 */
function toMajors(range: string): (major: number) => boolean {
  const text = range.replace(/([<>=~^])\s+/g, '$1').trim();
  const between = /^v?(\d+)\S* +- +v?(\d+)\S*$/.exec(text);
  if (between) return (major) => major >= Number(between[1]) && major <= Number(between[2]);
  const tests = text.split(/\s+/).filter(Boolean).map(toTest);
  return (major) => tests.every((test) => test(major));
}

function toTest(comparator: string): (major: number) => boolean {
  const [, sign = '', number, rest = ''] = /^([<>]?=?|[~^])v?(\d+)(\S*)$/.exec(comparator) ?? [];
  if (number === undefined) return () => true;
  const limit = Number(number);
  // `<20` and `<20.0.0` include no version of 20; `<20.5` includes some.
  const whole = !/[1-9]/.test(rest);
  if (sign === '<') return (major) => (whole ? major < limit : major <= limit);
  if (sign === '<=') return (major) => major <= limit;
  if (sign === '>') return (major) => (rest === '' ? major > limit : major >= limit);
  if (sign === '>=') return (major) => major >= limit;
  return (major) => major === limit;
}
