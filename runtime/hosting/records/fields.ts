import type { HostingModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { AppSpec, HealthCheck, Resources } from './app.ts';
import { assertCrons } from './cron.ts';
import { type BuildSettings, changeBuild } from './build-settings.ts';
import { assertBackupRules, type BackupRules } from './backup-rules.ts';
import { assertHttpRules, hashPasswords, type HttpFields, type HttpRules } from './http-rules.ts';
import { assertImage, parseDomain, assertProjectName } from './names.ts';
import { type FileField, given, PROCESS_FIELDS } from './process-fields.ts';
import { type PreviewFields, toPreviewRules } from './preview-rules.ts';
import { assertPorts } from './ports.ts';
import { assertProcesses } from './deployed.ts';
import { assertWorker } from './domains.ts';

type Replaced = Pick<AppSpec, (typeof REPLACED)[number]>;

/** The fields of an app in a request body, after their types were checked. */
export interface AppFields extends Partial<Replaced> {
  readonly image?: string;
  /** Null makes the app a worker. */
  readonly port?: number | null;
  readonly domain?: string;
  readonly aliases?: readonly string[];
  readonly env?: Readonly<Record<string, string | number | boolean>>;
  readonly resources?: Partial<Resources>;
  readonly health?: Partial<HealthCheck>;
  readonly http?: HttpFields;
  readonly files?: readonly FileField[];
  readonly build?: BuildSettings | null;
  readonly previews?: PreviewFields;
  readonly backup?: Partial<BackupRules>;
}

/** The fields after their passwords were hashed. */
export type SpecFields = Omit<AppFields, 'http'> & { readonly http?: Partial<HttpRules> };

/** @throws AppError 400 */
export async function toSpecFields(
  { http, ...fields }: AppFields,
  known?: AppSpec,
): Promise<SpecFields> {
  return { ...fields, ...(http && { http: await hashPasswords(http, known?.http) }) };
}

const MIB = 1024 * 1024;
const HEALTH: HealthCheck = { interval_s: 10, timeout_s: 5, retries: 3 };

/**
 * Creates the spec of a new app from the fields and the manifest's defaults.
 *
 * @throws AppError 400
 */
export function newSpec(name: string, fields: SpecFields, model: HostingModel): AppSpec {
  const { memory, cpus, pids } = model.defaults;
  const empty: AppSpec = {
    domain: `${name}.${model.domain}`,
    aliases: [],
    image: null,
    port: null,
    volumes: [],
    replicas: 1,
    resources: { memory_mb: Math.round(memory / MIB), cpus, pids },
    health: HEALTH,
    command: null,
    source: null,
  };
  if (fields.image !== undefined) assertImage(fields.image);
  return changeSpec({ ...empty, image: fields.image ?? null }, fields);
}

/** The fields whose new value replaces the old one as it is. */
const REPLACED = [
  ...PROCESS_FIELDS,
  'volumes',
  'replicas',
  'command',
  'cron',
  'project',
  'release',
  'processes',
  'ports',
] as const;

/**
 * Changes a spec. `resources`, `health`, `http`, `build` and `backup` are merged, the other fields
 * are replaced.
 *
 * @throws AppError 400
 */
export function changeSpec(spec: AppSpec, fields: SpecFields): AppSpec {
  const { port, domain, aliases, health, build, previews } = fields;
  const changed: AppSpec = {
    ...spec,
    ...given(fields, REPLACED),
    ...(port !== undefined && { port, worker: port === null }),
    ...(domain !== undefined && { domain: parseDomain(domain) }),
    ...(aliases && { aliases: aliases.map(parseDomain) }),
    ...(health && { health: mergeHealth(spec.health, health) }),
    ...(build !== undefined && { build: changeBuild(spec.build, build) }),
    ...(previews && { previews: { ...spec.previews, ...toPreviewRules(previews) } }),
    resources: { ...spec.resources, ...fields.resources },
    ...(fields.http && { http: { ...spec.http, ...fields.http } }),
    ...(fields.backup && { backup: { ...spec.backup, ...fields.backup } }),
  };
  assertSpec(changed);
  return changed;
}

/** Path, TCP and command are alternatives: a new one replaces the other two. */
function mergeHealth(known: HealthCheck, given: Partial<HealthCheck>): HealthCheck {
  const asks = given.path !== undefined || given.tcp !== undefined || given.command !== undefined;
  const { path: _path, tcp: _tcp, command: _command, ...rest } = known;
  return { ...(asks ? rest : known), ...given };
}

function assertSpec(spec: AppSpec): void {
  assertHttpRules(spec.http ?? {});
  assertWorker(spec);
  assertCrons(spec.cron ?? []);
  if (spec.project) assertProjectName(spec.project);
  if (!spec.project && spec.volumes.some(({ shared }) => shared))
    throw failure.badRequest('volumes.shared needs a project, whose apps share the volume');
  assertBackupRules(spec.backup);
  assertProcesses(spec.processes ?? []);
  assertPorts(spec.ports ?? []);
  const domains = [spec.domain, ...spec.aliases];
  if (new Set(domains).size < domains.length)
    throw failure.badRequest('aliases must differ from the domain and from each other');
  for (const key of ['name', 'path'] as const) {
    const values = spec.volumes.map((volume) => volume[key]);
    if (new Set(values).size < values.length)
      throw failure.badRequest(`volumes must not name one ${key} twice`);
  }
  const unsafe = spec.volumes.find(
    ({ path }) =>
      path.split('/').includes('..') || path === '/' || /^\/(proc|sys|dev)(\/|$)/.test(path),
  );
  if (unsafe) throw failure.badRequest(`volumes.path ${unsafe.path} is not allowed`);
  if (spec.volumes.length > 0 && spec.replicas > 1)
    throw failure.badRequest('replicas must be 1 for an app with volumes');
  if (spec.resources.memory_mb > 0 && spec.resources.memory_mb < 6)
    throw failure.badRequest('resources.memory_mb must be 0 or at least 6');
}
