import { failure } from '@twofold/runtime/errors';
import { VERSION } from '@twofold/runtime/kernel';
import { type Deployment, healthCheckOf, type HostedApp } from '../records/app.ts';
import type { AppFields } from '../records/fields.ts';
import { given, PROCESS_FIELDS } from '../records/process-fields.ts';
import { showPreviewRules } from '../records/previews.ts';
import { gitTokenKey, webhookKey } from '../records/settings-table.ts';
import type { MoveDescription } from './description.ts';
import type { MoveParts } from './parts.ts';

/** @throws AppError 409 for an app that cannot be moved. */
export function assertMovable({ spec }: HostedApp): void {
  if (spec.moved) throw failure.conflict(`The app has moved to ${spec.moved.to} already`);
  if (spec.arrival?.kept === false) throw failure.conflict('The app is being moved to this server');
  if (spec.preview)
    throw failure.conflict(`The app is a preview of ${spec.preview.of}: move that app instead`);
  const shared = spec.volumes.find((volume) => volume.shared || volume.external);
  if (shared)
    throw failure.conflict(
      `The volume ${shared.name} does not belong to this app alone: replace it by one that does, then move`,
    );
}

/** Describes the app with all that belongs to it, except its image and its files. */
export async function describeMove(
  parts: MoveParts,
  app: HostedApp,
  current: Deployment | null,
): Promise<MoveDescription> {
  const { vault, certificates } = parts;
  const { spec } = app;
  const secretOf = async (key: string) => (await vault.get(key)) ?? null;
  return {
    version: 1,
    from: VERSION,
    app: fieldsOf(app, current),
    secrets: app.secrets,
    passwords: spec.http?.basic_auth ?? null,
    gitToken: await secretOf(gitTokenKey(app.id)),
    webhookSecret: await secretOf(webhookKey(app.id)),
    deployKey: (await parts.deployKeys.privateKey(app.id)) ?? null,
    certificates: spec.worker ? [] : await certificates.pairs([spec.domain, ...spec.aliases]),
    deployed: current && {
      image: current.image ?? current.image_id ?? '',
      source: current.source,
      running: app.desired === 'running',
    },
  };
}

/** The body of `POST /api/apps` that makes this app. */
function fieldsOf(
  { name, spec, env, files = [] }: HostedApp,
  current: Deployment | null,
): MoveDescription['app'] {
  const { basic_auth: _hashes, ...http } = spec.http ?? {};
  const port = spec.worker ? null : (spec.port ?? (current ? spec.usedPort : undefined));
  return {
    name,
    env,
    replicas: spec.replicas,
    resources: spec.resources,
    command: spec.command,
    ...(port !== undefined && { port }),
    ...(!spec.worker && { domain: spec.domain, aliases: spec.aliases }),
    volumes: spec.volumes.map((volume) => ({ name: volume.name, path: volume.path })),
    // The check of the Dockerfile goes along as the user's own: the target did not build it.
    health: healthCheckOf(spec),
    http: http as AppFields['http'] & object,
    cron: spec.cron ?? [],
    project: spec.project ?? null,
    ...given(spec, PROCESS_FIELDS),
    files: files.map((file) => ({ ...file, encoding: 'base64' as const })),
    ...(spec.build && { build: spec.build }),
    previews: showPreviewRules(spec),
    ...(spec.backup && { backup: spec.backup }),
    release: spec.release ?? null,
    processes: spec.processes ?? [],
    ports: spec.ports ?? [],
  };
}
