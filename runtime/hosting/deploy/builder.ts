import { Readable } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import { createSemaphore, diskOf } from '@twofold/runtime/kernel';
import type { Core } from '../core.ts';
import { EngineError } from '../engine/errors.ts';
import type { Deployment } from '../records/app.ts';
import type { BuildPlan } from '../source/plan.ts';
import { assertPublicAddress } from '../source/base-images.ts';
import { assertTriggers, isNamed } from '../source/dockerfile.ts';
import type { Spool } from '../source/spool.ts';
import { registryRefused, wantsLogin } from '../registries/refused.ts';
import type { BuildLogs } from './build-logs.ts';
import { buildPolicy } from './build-policy.ts';
import { appLabels, imageTag, LABELS, stagesRepository } from './containers.ts';

/** Builds images inside the engine. No program of a user runs directly on this machine. */
export interface ImageBuilder {
  /**
   * Waits until few enough other builds run, then builds.
   *
   * @returns the image's id. @throws AppError 422 when the build fails, 507 when the disk is nearly
   * full.
   */
  build(deployment: Deployment, work: BuildWork): Promise<string>;
}

export interface BuildWork {
  readonly plan: BuildPlan;
  readonly spool: Spool;
  readonly signal: AbortSignal;
}

export function createImageBuilder(core: Core, logs: BuildLogs): ImageBuilder {
  const semaphore = createSemaphore(Math.max(1, core.model.build.concurrency));
  return {
    async build(deployment, work) {
      const { signal } = work;
      const start = async () => {
        await assertDisk(core);
        await assertBases(core, work, (line) => logs.add(deployment, line));
        return run(core, logs, deployment, work);
      };
      try {
        if (semaphore.held) logs.add(deployment, 'Waiting for another build to end');
        return await semaphore.run(start, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new AppError(409, 'CANCELLED', 'The deployment was cancelled');
      }
    },
  };
}

async function run(
  core: Core,
  logs: BuildLogs,
  deployment: Deployment,
  { plan, spool, signal }: BuildWork,
): Promise<string> {
  const app = core.apps.byId(deployment.app_id);
  if (!app) throw failure.notFound('App not found');
  const { timeout, memory } = core.model.build;
  const late = AbortSignal.timeout(timeout);
  logs.add(
    deployment,
    `Building with ${plan.kind === 'Dockerfile' ? `the source's ${plan.dockerfile}` : `a Dockerfile made for ${plan.kind}`}`,
  );
  let refused: unknown;
  // The engine's client reports an error of this stream as if the engine were not reachable.
  const context = () => Readable.from(spool.read(plan)).once('error', (e) => (refused = e));
  try {
    return await core.connection.engine().images.build(context, {
      tag: imageTag(core.naming, app, deployment.number),
      cache: stagesRepository(core.naming, app),
      dockerfile: plan.dockerfile,
      labels: {
        ...appLabels(core.naming, app),
        [LABELS.health]: plan.health ? JSON.stringify(plan.health) : '',
      },
      memory,
      cpus: 0,
      signal: AbortSignal.any([signal, late]),
      onLine(line) {
        logs.add(deployment, line);
        core.onStep('building');
      },
    });
  } catch (error) {
    if (refused instanceof AppError) throw refused;
    throw describe(error, { late: late.aborted, timeout });
  }
}

function describe(
  error: unknown,
  { late, timeout }: { readonly late: boolean; readonly timeout: number },
): unknown {
  if (late)
    return failure.unprocessable(`The build took longer than ${Math.round(timeout / 1000)} s`);
  if (!(error instanceof EngineError) || error.kind === 'unavailable' || error.kind === 'disk')
    return error;
  return new AppError(422, 'BUILD_FAILED', `The build failed: ${error.message.slice(0, 1000)}`, {
    cause: error,
  });
}

/**
 * Checks the base images of a Dockerfile before the build: the engine fetches them from inside our
 * network, and they may contain instructions (ONBUILD). An image that cannot be fetched is left to
 * the build, which reports the error.
 */
async function assertBases(
  core: Core,
  { plan, signal }: BuildWork,
  say: (line: string) => void,
): Promise<void> {
  const engine = core.connection.engine();
  const policy = await buildPolicy(core);
  const within = AbortSignal.any([signal, AbortSignal.timeout(core.model.build.timeout)]);
  const find = (image: string) => engine.images.find(image).catch(() => null);
  for (const image of plan.images) {
    const local = await find(image);
    if (!local && !isNamed(image, policy)) await assertPublicAddress(image);
    if (!local) {
      say(`Fetching ${image}`);
      await pullBase(core, image, within);
    }
    assertTriggers((local ?? (await find(image)))?.triggers ?? [], policy);
  }
}

/** Refuses a build when the disk is nearly full, because a full disk stops everything else too. */
async function assertDisk(core: Core): Promise<void> {
  const root = core.connection.info()?.root;
  const disk = root ? await diskOf(root) : null;
  if (disk && disk.free < core.model.diskFloor)
    throw new AppError(507, 'DISK_FULL', 'There is too little free disk space to build');
}

async function pullBase(core: Core, image: string, signal: AbortSignal): Promise<void> {
  const login = await core.registries.loginFor(image);
  try {
    await core.connection.engine().images.pull(image, signal, login);
  } catch (error) {
    if (error instanceof EngineError && wantsLogin(error, image, login))
      throw registryRefused(image, login, error);
  }
}
