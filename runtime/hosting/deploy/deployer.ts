import { AppError } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import type { EngineImage, RegistryLogin } from '../engine/images.ts';
import { EngineError, isRefusal } from '../engine/errors.ts';
import type { HostedApp, Deployment, HealthCheck, AppSource, Trigger } from '../records/app.ts';
import { deployedConfig } from '../records/deployed.ts';
import type { AppRuns } from '../records/run.ts';
import { imageTag, LABELS } from '../host/containers.ts';
import { asFullDisk } from '../host/full-disk.ts';
import { registryRefused, wantsLogin, withoutLogin } from '../registries/refused.ts';
import { forgetOldImages } from './kept-images.ts';
import { assertNotMoved } from './lifecycle.ts';
import { ensureVolumes } from './replicas.ts';
import { ReleaseError, runRelease } from './release.ts';
import { rollOut, RolloutError } from './rollout.ts';

/**
 * Makes sure that the deployment's image is on the engine. `image` is the name to show, `id` is
 * what the containers run.
 */
export type PrepareImage = (
  deployment: Deployment,
  signal: AbortSignal,
) => Promise<{ readonly image: string; readonly id: string; readonly source?: AppSource }>;

export interface DeployRequest {
  readonly trigger: Trigger;
  readonly source: AppSource;
  readonly prepare: PrepareImage;
  /** Whether the image is built first: the app's status is `building` until then. */
  readonly builds?: boolean;
  /** Runs in place of the rollout, for an app that only does some work once and does not stay. */
  readonly instead?: (app: HostedApp, deployment: number) => Promise<void>;
}

type DeployedSource = Pick<DeployRequest, 'source' | 'prepare'>;

/**
 * A deployment that has started. When it fails, `done` rejects with the reason, which is also
 * stored in the deployment's record.
 */
export interface StartedDeployment {
  readonly deployment: Deployment;
  readonly done: Promise<Deployment>;
}

/** A caller has cancelled the deployment. What served before still serves. */
export class DeploymentCancelled extends AppError {
  constructor() {
    super(409, 'CANCELLED', 'The deployment was cancelled');
    this.name = 'DeploymentCancelled';
  }
}

export interface Deployer {
  /** @throws AppError 409 when another operation runs on the app. */
  begin(app: HostedApp, request: DeployRequest): Promise<StartedDeployment>;
  /** Pulls the image, or uses the local image of that name. */
  fromImage(reference: string): PrepareImage;
  /** Deploys an image that has a name. */
  ofImage(reference: string): DeployedSource;
  /** Deploys the image of an earlier deployment. */
  again(earlier: Deployment): DeployedSource;
  /**
   * Deploys a new app and waits for the result. When its image cannot be pulled, the app is removed
   * again, so that its name is free.
   *
   * @throws AppError the error of the deployment.
   */
  first(app: HostedApp, request: DeployRequest): Promise<void>;
}

export function createDeployer(core: Core, runs: AppRuns): Deployer {
  const fromImage = (reference: string): PrepareImage => {
    return async (_deployment, signal) => ({
      image: reference,
      id: await pull(core, reference, signal),
    });
  };
  return {
    begin: (app, request) => begin(core, runs, app, request),
    async first(app, request) {
      try {
        await (
          await begin(core, runs, app, request)
        ).done;
      } catch (error) {
        await removeNeverDeployed(core, app);
        throw error;
      }
    },
    fromImage,
    ofImage: (image) => ({ source: { kind: 'image', image }, prepare: fromImage(image) }),
    again: (earlier) => ({ source: earlier.source, prepare: () => imageOf(core, earlier) }),
  };
}

async function imageOf(core: Core, { number, image, image_id, source }: Deployment) {
  const found = image_id ? await core.connection.engine().images.find(image_id) : null;
  if (found) return { image: image ?? found.id, id: found.id, source };
  throw new AppError(409, 'IMAGE_GONE', `The image of deployment ${number} is no longer kept`);
}

/** Removes an app whose first image could not be pulled: there is nothing of it on the engine. */
async function removeNeverDeployed(core: Core, app: HostedApp): Promise<void> {
  const tried = await core.deployments.list(app.id, 2);
  if (tried.length > 1 || tried.some(({ image_id }) => image_id !== null)) return;
  core.ingress.remove(app.id);
  await core.apps.remove(app.id);
  core.events.emit('removed', { app: app.name });
}

function begin(
  core: Core,
  runs: AppRuns,
  app: HostedApp,
  request: DeployRequest,
): Promise<StartedDeployment> {
  core.connection.engine();
  assertNotMoved(app);
  return new Promise((resolve, reject) => {
    const done = core.operations.run(
      app.id,
      request.builds ? 'build' : 'deploy',
      async (signal) => {
        const deployment = await core.deployments.insert({
          app_id: app.id,
          trigger: request.trigger,
          source: request.source,
        });
        core.onStep('recorded');
        queueMicrotask(() => resolve({ deployment, done }));
        return run(core, runs, app.id, { deployment, request, signal });
      },
    );
    // Reports an error that comes before the deployment's record exists. A later error is reported
    // by `done` itself.
    done.catch(reject);
  });
}

async function run(
  core: Core,
  runs: AppRuns,
  appId: string,
  {
    deployment,
    request,
    signal,
  }: { deployment: Deployment; request: DeployRequest; signal: AbortSignal },
): Promise<Deployment> {
  const before = core.apps.byId(appId)?.status;
  try {
    await setStatus(core, appId, deployment, request.builds ? 'building' : 'deploying');
    const prepared = await request.prepare(deployment, signal).catch(asFullDisk);
    const app = core.apps.byId(appId);
    if (!app || signal.aborted)
      throw new AppError(409, 'CANCELLED', 'The deployment was cancelled');
    core.onStep('built');
    const image = await keepImage(core, app, deployment, prepared.id);
    core.onStep('tagged');
    const source = prepared.source ?? deployment.source;
    const ready = {
      image: prepared.image,
      image_id: image.id,
      port: portOf(core, app, image),
      replicas: app.spec.replicas,
      processes: app.spec.processes ?? [],
      status: 'deploying',
      source,
    } as const;
    await core.deployments.update(deployment, ready);
    core.onStep('planned');
    await setStatus(core, appId, deployment, 'deploying');
    const planned: Deployment = { ...deployment, ...ready };
    if (request.instead) await workOnce(core, app, planned, request.instead);
    else {
      await runRelease(runs, app, planned, signal);
      const spec = { ...app.spec, builtHealth: builtHealthOf(image, source) };
      await rollOut(core, { ...app, spec }, planned, signal);
    }
    await forgetOldImages(core, app);
    core.onStep('forgotten');
    return await finish(core, deployment);
  } catch (error) {
    const thrown = signal.reason instanceof DeploymentCancelled ? signal.reason : error;
    await recordFailure(core, { appId, deployment, before }, thrown);
    throw thrown;
  }
}

/** The app is then deployed and stopped: nothing of it runs. */
async function workOnce(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  work: NonNullable<DeployRequest['instead']>,
): Promise<void> {
  await ensureVolumes(core, app);
  await work(app, deployment.number);
  const { image, source, number } = deployment;
  const { spec } = core.apps.byId(app.id) ?? app;
  await core.apps.update(app.id, {
    deployment: number,
    desired: 'stopped',
    status: 'stopped',
    error: null,
    deployed: deployedConfig(app),
    spec: { ...spec, image, source, usedPort: null },
  });
  const finished_at = new Date(core.now()).toISOString();
  await core.deployments.update(deployment, { status: 'healthy', finished_at });
  await core.deployments.supersede(app.id, number);
}

/** If the app already serves, its status stays `running` meanwhile. */
async function setStatus(
  core: Core,
  appId: string,
  deployment: Deployment,
  status: 'building' | 'deploying',
): Promise<void> {
  await core.deployments.update(deployment, { status });
  const app = core.apps.byId(appId);
  if (app && app.status !== 'running' && app.status !== status)
    await core.apps.update(appId, { status, error: null });
  announce(core, appId, deployment.number, status);
}

async function finish(core: Core, { app_id, number }: Deployment): Promise<Deployment> {
  announce(core, app_id, number, 'healthy');
  return core.deployments.get(app_id, number);
}

/** An app that served before the deployment gets its earlier status back. */
async function recordFailure(
  core: Core,
  {
    appId,
    deployment,
    before = 'failed',
  }: { appId: string; deployment: Deployment; before: HostedApp['status'] | undefined },
  error: unknown,
): Promise<void> {
  const reason = error instanceof AppError ? error.message : 'Internal error';
  const cancelled = error instanceof DeploymentCancelled;
  const status = cancelled ? 'cancelled' : 'failed';
  const hasLines = error instanceof RolloutError || error instanceof ReleaseError;
  const log = hasLines ? error.lines : [];
  if (!(error instanceof AppError))
    core.log.error({ stack: (error as Error).stack }, 'a deployment failed');
  core.operations.finishing(appId);
  await core.deployments.update(deployment, {
    status,
    reason,
    log,
    finished_at: new Date(core.now()).toISOString(),
  });
  const app = core.apps.byId(appId);
  if (app) await forgetOldImages(core, app);
  if (app && (app.status === 'building' || app.status === 'deploying')) {
    await core.apps.update(appId, {
      status: app.deployment === null && !cancelled ? 'failed' : before,
      error: cancelled ? null : reason,
    });
  } else if (app && !cancelled) await core.apps.update(appId, { error: reason });
  announce(core, appId, deployment.number, status, reason);
}

function announce(
  core: Core,
  appId: string,
  number: number,
  status: string,
  reason?: string,
): void {
  core.events.emit('deployment', {
    app: core.apps.byId(appId)?.name ?? appId,
    number,
    status,
    ...(reason !== undefined && { reason }),
  });
}

/**
 * Asks the registry each time, because a tag may point to a new image. When the registry does not
 * answer or does not know the image, the local image of that name is used. Names with `localhost/`
 * are local only.
 */
async function pull(core: Core, reference: string, signal: AbortSignal): Promise<string> {
  const engine = core.connection.engine();
  const local = await engine.images.find(reference);
  const pinned = reference.includes('@sha256:');
  if (local && (pinned || reference.startsWith('localhost/'))) return local.id;
  const login = await core.registries.loginFor(reference);
  try {
    await engine.images.pull(reference, signal, login);
  } catch (error) {
    if (error instanceof EngineError && wantsLogin(error, reference, login))
      throw registryRefused(reference, login, error);
    if (local && error instanceof EngineError && error.kind !== 'disk') return local.id;
    if (!isRefusal(error)) throw error;
    throw imageUnavailable(reference, error, login);
  }
  const image = await engine.images.find(reference);
  if (image) return image.id;
  throw imageUnavailable(reference);
}

/** The error of the caller's image name. The engine itself works. */
function imageUnavailable(reference: string, cause?: EngineError, login?: RegistryLogin): AppError {
  const why = cause ? `: ${withoutLogin(cause.message, login)}` : '';
  return new AppError(422, 'IMAGE_UNAVAILABLE', `Image ${reference} cannot be pulled${why}`, {
    cause,
  });
}

/** Gives the image a tag of ours, so that the engine keeps it as long as we keep the deployment. */
async function keepImage(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  id: string,
): Promise<EngineImage> {
  const engine = core.connection.engine();
  await engine.images.tag(id, imageTag(core, app, deployment.number));
  const image = await engine.images.find(id);
  if (image) return image;
  throw new EngineError('failed', 'The image is gone');
}

/**
 * Reads the health check that our build stored in the image's label. In an image that was built
 * elsewhere this label cannot be trusted.
 */
function builtHealthOf({ labels }: EngineImage, source: AppSource): HealthCheck | null {
  const text =
    source.kind === 'git' || source.kind === 'tarball' ? labels[LABELS.health] : undefined;
  return text ? (JSON.parse(text) as HealthCheck) : null;
}

/** Null for a worker. */
function portOf(core: Core, app: HostedApp, image: EngineImage): number | null {
  if (app.spec.worker) return null;
  if (app.spec.port !== null) return app.spec.port;
  return image.ports.length === 1 ? (image.ports[0] as number) : core.model.defaults.port;
}
