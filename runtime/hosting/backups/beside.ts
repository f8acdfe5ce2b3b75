import { AppError } from '@twofold/runtime/errors';
import type { DeployRequest, PrepareImage } from '../deploy/deployer.ts';
import type { AppSource, AppSpec, HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup-repository.ts';
import { newSpec } from '../records/fields.ts';
import { assertAppName } from '../records/names.ts';
import { inheritedSpec } from '../records/previews.ts';
import type { Description } from './archive.ts';
import { fillApp, assertFits } from './restore.ts';
import { aboutBackup } from './make.ts';
import { type BackupParts, checkBackup } from './stored.ts';

/**
 * Restores a backup into a new app beside the one that it was made of, which may be gone. The new
 * app has a domain of its own, and neither cron jobs, ports, processes nor scheduled backups:
 * nothing is done twice.
 *
 * @throws AppError 409 when the name is taken, 422 for a damaged backup or an image that is gone.
 * Then there is no new app.
 */
export async function restoreBeside(
  parts: BackupParts,
  { into, backup, signal }: { into: string; backup: StoredBackup; signal: AbortSignal },
): Promise<void> {
  const description = await checkBackup(parts, backup);
  const spec = besideSpec(parts, into, description);
  const values = JSON.parse(
    parts.seal.open(description.sealed as string, aboutBackup(backup.app as string)),
  ) as Pick<HostedApp, 'env' | 'secrets' | 'files'>;
  assertFits({ spec }, description);
  const app = await parts.apps.insert({ name: into, spec, ...values });
  try {
    const prepare = ownImage(parts, description);
    await deployFilled(parts, app, { prepare, source: sourceOf(spec), backup, signal });
    await startFilled(parts, app.id);
  } catch (error) {
    await parts.lifecycle.remove(app, { volumes: true });
    throw error;
  }
}

/** @throws AppError 400 for a name that is none. */
function besideSpec(parts: BackupParts, into: string, { spec }: Description): AppSpec {
  assertAppName(into);
  const { volumes, backup, source, image, replicas } = spec as AppSpec;
  const { dump = null, restore = null, stop = false } = backup ?? {};
  const taken = inheritedSpec(spec as AppSpec, { fork: false });
  return {
    ...newSpec(into, {}, parts.model),
    ...taken,
    // A volume that another app uses too would be overwritten.
    volumes: volumes.map(({ name, path }) => ({ name, path })),
    source,
    image,
    replicas,
    ...(backup && { backup: { dump, restore, stop } }),
  };
}

const sourceOf = ({ source, image }: AppSpec): AppSource =>
  source ?? { kind: 'image', image: image ?? '' };

/** Takes the very image of the backup if the engine has it, else the one that has its name now. */
function ownImage(parts: BackupParts, { imageId, image, spec }: Description): PrepareImage {
  const name = image ?? (spec as AppSpec).image;
  return async (deployment, signal) => {
    const found = imageId ? await parts.connection.engine().images.find(imageId) : null;
    if (found) return { image: name ?? found.id, id: found.id };
    return pulledImage(parts, name)(deployment, signal);
  };
}

/** @throws AppError 422 for an image that was built where the engine is another one. */
export function pulledImage({ deployer }: BackupParts, name: string | null): PrepareImage {
  if (name !== null && !name.startsWith('localhost/')) return deployer.fromImage(name);
  return async () => {
    throw new AppError(
      422,
      'IMAGE_UNAVAILABLE',
      'Its image was built, and is not on this engine: deploy the app, then restore the backup',
    );
  };
}

interface Filling {
  readonly prepare: PrepareImage;
  readonly source: AppSource;
  /** Null for an app that has no data. */
  readonly backup: StoredBackup | null;
  readonly signal: AbortSignal;
}

/** Deploys an app whose volumes get the data of a backup before it is started. */
export async function deployFilled(
  parts: BackupParts,
  app: HostedApp,
  { prepare, source, backup, signal }: Filling,
): Promise<void> {
  const request: DeployRequest = {
    trigger: 'api',
    source,
    prepare,
    instead: async (current, deployment) => {
      if (backup) await fillApp(parts, { ...current, deployment }, backup, signal);
    },
  };
  const started = await parts.deployer.begin(app, request);
  await started.done;
}

/** Starts an app that `deployFilled` has left stopped. */
export async function startFilled(parts: BackupParts, appId: string): Promise<void> {
  const app = parts.apps.byId(appId) as HostedApp;
  const { port } = await parts.deployments.serving(app);
  const spec = { ...app.spec, usedPort: port, usedPorts: app.spec.ports ?? [] };
  await parts.lifecycle.start(await parts.apps.update(appId, { spec }));
}
