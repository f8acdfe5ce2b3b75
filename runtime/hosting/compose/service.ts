import { failure } from '@twofold/runtime/errors';
import type { Resources } from '../records/app.ts';
import { assertEnv, assertImage } from '../records/names.ts';
import type { BuildSettings } from '../records/build-settings.ts';
import type { ComposeApp, ComposeContext, ComposeFields } from './compose-app.ts';
import { environmentOf, variablesOf } from './environment.ts';
import { healthOf } from './health.ts';
import { portsOf } from './ports.ts';
import { type Entry, isMapping, itemsOf, membersOf, type Problems } from './problems.ts';
import {
  needsSource,
  sourcePathOf,
  booleanOf,
  bytesOf,
  numberOf,
  secondsOf,
  textOf,
  wordsOf,
} from './values.ts';
import { type DeclaredVolumes, volumesOf } from './volumes.ts';

/** Keys that are read and have no effect: the server does the same for every app, or shows it elsewhere. */
const IGNORED = ['restart', 'labels', 'container_name'];
const KEYS =
  'image build command entrypoint environment env_file healthcheck user working_dir init stop_grace_period ports depends_on volumes networks deploy mem_limit cpus pids_limit'
    .split(' ')
    .concat(IGNORED);

type Service = ReadonlyMap<string, Entry>;

/** What the file declares besides its services. */
export interface Declared {
  readonly volumes: DeclaredVolumes;
  readonly networks: ReadonlySet<string>;
  readonly services: ReadonlySet<string>;
}

/** A service as it is read, with the conditions under which others wait for it. */
export interface ReadService {
  readonly app: Omit<ComposeApp, 'once'>;
  /** The services that must have ended well before this one starts. */
  readonly completed: readonly string[];
}

export interface ReadContext {
  readonly context: ComposeContext;
  readonly problems: Problems;
  readonly declared: Declared;
}

export function readService(name: string, entry: Entry, given: ReadContext): ReadService {
  const { context, problems, declared } = given;
  const service: Service = membersOf(entry, problems, KEYS);
  const { volumes, files } = volumesOf(service.get('volumes'), declared.volumes, given);
  const { after, completed } = dependenciesOf(service.get('depends_on'), given);
  const env = environmentOf(service, context, problems);
  asProblem(`${entry.path}.environment`, problems, () => assertEnv(env));
  const image = imageOf(service, problems);
  const build = buildOf(service.get('build'), context, problems);
  if (image === null && build === null) problems.add(entry.path, 'needs image or build');
  return {
    completed,
    app: {
      service: name,
      name: `${context.project}-${name}`,
      env,
      files,
      after,
      build,
      image: build ? null : image,
      networks: networksOf(service.get('networks'), given),
      fields: { ...fieldsOf(service, problems), volumes },
    },
  };
}

/** Adds the error of a check that the API makes too. */
export function asProblem(path: string, problems: Problems, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    problems.add(path, `is not valid: ${(error as Error).message}`);
  }
}

function imageOf(service: Service, problems: Problems): string | null {
  const entry = service.get('image');
  const image = entry && textOf(entry, problems);
  if (!entry || image === undefined) return null;
  asProblem(entry.path, problems, () => assertImage(image));
  return image;
}

function buildOf(
  entry: Entry | undefined,
  { source, env }: ComposeContext,
  problems: Problems,
): BuildSettings | null {
  if (!entry) return null;
  const members: Service = isMapping(entry.value)
    ? membersOf(entry, problems, ['context', 'dockerfile', 'target', 'args'])
    : new Map([['context', entry]]);
  const context = members.get('context') ?? { path: entry.path, value: '.' };
  const text = textOf(context, problems);
  const path = text === undefined ? undefined : sourcePathOf(context.path, text, problems);
  if (!source) needsSource(entry, problems);
  else if (path && !source.hasFolder(path))
    problems.add(context.path, `is not in the source: ${path}`);
  const [dockerfile, target] = ['dockerfile', 'target'].map((key) => {
    const member = members.get(key);
    return member && textOf(member, problems);
  });
  const args = members.get('args');
  return {
    ...(path && { context: path }),
    ...(dockerfile && { dockerfile }),
    ...(target && { target }),
    ...(args && { args: variablesOf(args, env, problems) }),
  };
}

function fieldsOf(service: Service, problems: Problems): Omit<ComposeFields, 'volumes'> {
  const read = <T>(key: string, how: (entry: Entry, problems: Problems) => T): T | undefined => {
    const entry = service.get(key);
    return entry && how(entry, problems);
  };
  const init = read('init', booleanOf);
  return {
    ...portsOf(service.get('ports'), problems),
    command: read('command', wordsOf) ?? null,
    entrypoint: read('entrypoint', wordsOf) ?? null,
    user: read('user', textOf) ?? null,
    working_dir: read('working_dir', textOf) ?? null,
    ...(init !== undefined && { init }),
    stop_grace_period: read('stop_grace_period', secondsOf) ?? null,
    health: healthOf(service.get('healthcheck'), problems),
    ...limitsOf(service, problems),
  };
}

const MIB = 1024 * 1024;

/** `deploy.resources.limits`, or the older keys of the service itself. */
function limitsOf(
  service: Service,
  problems: Problems,
): { readonly replicas: number; readonly resources: Partial<Resources> } {
  const deployed = service.get('deploy');
  const deploy: Service = deployed
    ? membersOf(deployed, problems, ['replicas', 'resources'])
    : new Map();
  const held = deploy.get('resources');
  const limits = held && membersOf(held, problems, ['limits']).get('limits');
  const limit: Service = limits
    ? membersOf(limits, problems, ['cpus', 'memory', 'pids'])
    : new Map();
  const replicas = deploy.get('replicas');
  const memory = limit.get('memory') ?? service.get('mem_limit');
  const cpus = limit.get('cpus') ?? service.get('cpus');
  const pids = limit.get('pids') ?? service.get('pids_limit');
  return {
    replicas: (replicas && numberOf(replicas, problems)) ?? 1,
    resources: {
      ...(memory && { memory_mb: Math.ceil((bytesOf(memory, problems) ?? 0) / MIB) }),
      ...(cpus && { cpus: numberOf(cpus, problems) ?? 0 }),
      ...(pids && { pids: numberOf(pids, problems) ?? 0 }),
    },
  };
}

/** The networks of a service; none means the project's own. */
function networksOf(entry: Entry | undefined, { declared, problems }: ReadContext): string[] {
  if (!entry || entry.value === null) return [];
  const names = isMapping(entry.value)
    ? [...membersOf(entry, problems)].map(([name, member]) => {
        if (member.value !== null) problems.add(member.path, 'takes no settings');
        return { path: member.path, name };
      })
    : itemsOf(entry).map((item) => ({ path: item.path, name: textOf(item, problems) ?? '' }));
  for (const { path, name } of names)
    if (!declared.networks.has(name))
      problems.add(path, `names the network ${name}, which networks does not have`);
  // The network `default` is there without being declared, and is the project's own.
  return names.map(({ name }) => name).sort();
}

const CONDITIONS = ['service_started', 'service_healthy', 'service_completed_successfully'];

function dependenciesOf(
  entry: Entry | undefined,
  { declared, problems }: ReadContext,
): { readonly after: string[]; readonly completed: string[] } {
  if (!entry || entry.value === null) return { after: [], completed: [] };
  const completed: string[] = [];
  const named = isMapping(entry.value)
    ? [...membersOf(entry, problems)].map(([name, member]) => {
        const members = membersOf(member, problems, ['condition', 'restart', 'required']);
        const condition = members.get('condition');
        const word = condition ? String(condition.value) : CONDITIONS[0]!;
        if (!CONDITIONS.includes(word))
          problems.add(condition!.path, `must be one of ${CONDITIONS.join(', ')}`);
        if (word === CONDITIONS[2]) completed.push(name);
        return { path: member.path, name };
      })
    : itemsOf(entry).map((item) => ({ path: item.path, name: textOf(item, problems) ?? '' }));
  for (const { path, name } of named)
    if (!declared.services.has(name))
      problems.add(path, `names the service ${name}, which services does not have`);
  return { after: named.map(({ name }) => name), completed };
}

/** @throws AppError 422 for a service whose name cannot be an app's. */
export function assertServiceName(name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,61}$/.test(name))
    throw failure.unprocessable('a service is named by lower-case letters, digits and hyphens');
}
