import { createHash } from 'node:crypto';
import type { HostingModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { AppSpec, HostedApp } from '../records/app.ts';
import { newSpec } from '../records/fields.ts';
import { assertAppName, toEnv } from '../records/names.ts';
import { assertInRange, newPorts, parsePortRange, portKey } from '../records/ports.ts';
import { type AppFile, PROCESS_FIELDS, toFiles } from '../records/process-fields.ts';
import type { ComposeApp } from './compose-app.ts';
import { asProblem } from './service.ts';
import { createProblems } from './problems.ts';

/** What one app of a compose file becomes, compared with what is there. */
export interface PlannedApp {
  readonly app: ComposeApp;
  readonly known: HostedApp | null;
  readonly spec: AppSpec;
  readonly env: HostedApp['env'];
  readonly files: readonly AppFile[];
  /** The image, or the hash of the source that it is built from. */
  readonly from: string;
  /** Stands for all of the above. */
  readonly mark: string;
  readonly changes: boolean;
}

/** The answer of the call: names of apps. */
export interface ComposeReport {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** Apps that an earlier compose file made, and this one does not have. */
  readonly gone: readonly string[];
}

export interface ComposePlan {
  readonly project: string;
  readonly levels: readonly (readonly PlannedApp[])[];
  readonly gone: readonly HostedApp[];
}

interface PlanInput {
  readonly project: string;
  readonly levels: readonly (readonly ComposeApp[])[];
  readonly apps: readonly HostedApp[];
  readonly model: HostingModel;
  /** The hash of the source of an app that is built. */
  readonly sha256: (app: ComposeApp) => string;
  /** The checks of `POST /api/apps`, for the fields. */
  readonly check: (body: unknown) => unknown;
}

/** @throws AppError 409 for a name that an app outside of the project has, 422 for wrong values. */
export function planCompose(input: PlanInput): ComposePlan {
  const { project, apps } = input;
  const problems = createProblems();
  const levels = input.levels.map((level) =>
    level.flatMap((app) => {
      let planned: PlannedApp | undefined;
      asProblem(`services.${app.service}`, problems, () => (planned = planApp(app, input)));
      return planned ?? [];
    }),
  );
  const planned = levels.flat();
  for (const { app, key } of portsTwice(planned))
    problems.add(`services.${app.service}.ports`, `names ${key}, which another service has`);
  problems.assertNone();
  for (const { known, app } of planned)
    if (known && known.spec.project !== project)
      throw failure.conflict(`App ${app.name} already exists outside of the project ${project}`);
  const names = new Set(planned.map(({ app }) => app.name));
  const gone = apps.filter(
    ({ name, spec }) => spec.project === project && spec.composed !== undefined && !names.has(name),
  );
  return { project, levels, gone };
}

/** Ports of the host that more than one service names. */
function portsTwice(planned: readonly PlannedApp[]) {
  const all = planned.flatMap(({ app }) =>
    app.fields.ports.map((port) => ({ app, key: portKey(port) })),
  );
  return all.filter(({ key }, at) => all.findIndex((each) => each.key === key) < at);
}

function planApp(app: ComposeApp, { project, apps, model, sha256, check }: PlanInput): PlannedApp {
  const { name } = app;
  assertAppName(name);
  const { fields } = app;
  const { volumes, ...plain } = fields;
  const shown = volumes
    .filter(({ external }) => !external)
    .map(({ name: volume, path }) => ({ name: volume, path }));
  check({
    name,
    project,
    build: app.build,
    ...plain,
    volumes: shown,
    env: app.env,
    files: app.files,
  });
  const known = apps.find((each) => each.name === name) ?? null;
  const fresh = newSpec(name, { ...fields, project, build: app.build }, model);
  const wanted = composedOf({ ...fresh, networks: app.networks });
  const spec: AppSpec = {
    ...(known?.spec ?? fresh),
    ...wanted,
    composed: known?.spec.composed ?? '',
  };
  const rest = { env: toEnv(app.env), files: toFiles(app.files) };
  assertInRange(newPorts(spec, known?.spec), parsePortRange(model.ingress.ports));
  const from = app.build ? sha256(app) : (app.image as string);
  const mark = markOf({ ...rest, spec, from });
  const same = known !== null && known.spec.composed === mark && isAsMade(known, mark, app.once);
  return { app, known, spec, ...rest, from, mark, changes: !same };
}

const COMPOSED = [
  ...PROCESS_FIELDS,
  'port',
  'ports',
  'worker',
  'volumes',
  'replicas',
  'resources',
  'health',
  'command',
  'build',
  'project',
  'networks',
] as const;

/** The fields that a compose file decides; absent ones are reset. */
const composedOf = (spec: AppSpec): Partial<AppSpec> =>
  Object.fromEntries(COMPOSED.map((key) => [key, spec[key] ?? undefined]));

function markOf({
  spec,
  env,
  files,
  from,
}: Pick<PlannedApp, 'spec' | 'env' | 'files' | 'from'>): string {
  const sorted = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([composedOf(spec), sorted, files, from], sortKeys);
  return createHash('sha256').update(text).digest('base64url');
}

/** JSON with the keys of each object in one order: the database may keep them in another one. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether the app runs, and has not been changed by other calls since. */
function isAsMade(known: HostedApp, mark: string, once: boolean): boolean {
  const { spec, env, files = [], deployment, desired } = known;
  const { source } = spec;
  const from =
    source && 'image' in source ? source.image : source?.kind === 'tarball' ? source.sha256 : '';
  const actual = markOf({ spec, env, files, from: from ?? '' });
  return actual === mark && deployment !== null && (once || desired === 'running');
}

export function reportOf({ levels, gone }: ComposePlan): ComposeReport {
  const all = levels.flat();
  const names = (some: readonly PlannedApp[]) => some.map(({ app }) => app.name).sort();
  return {
    created: names(all.filter(({ known }) => known === null)),
    changed: names(all.filter(({ known, changes }) => known !== null && changes)),
    unchanged: names(all.filter(({ changes }) => !changes)),
    gone: gone.map(({ name }) => name).sort(),
  };
}
