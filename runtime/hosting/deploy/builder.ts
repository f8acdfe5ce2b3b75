import { Readable } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Core } from '../core.ts';
import { EngineError } from '../engine/errors.ts';
import type { Deployment } from '../records/app.ts';
import type { BuildPlan } from '../source/plan.ts';
import { assertPublicAddress } from '../source/base-images.ts';
import { assertTriggers, isNamed } from '../source/dockerfile.ts';
import type { Spool } from '../source/spool.ts';
import { diskOf } from '../stats.ts';
import type { BuildLogs } from './build-logs.ts';
import { appLabels, imageTag, LABELS, stagesRepository } from './containers.ts';

/** Builds images in the engine: never a program of a user's on this machine. */
export interface ImageBuilder {
  /** Waits for a free place, then builds. @returns the image's id. @throws AppError 422 when the build fails, 507 when the disk is low. */
  build(
    deployment: Deployment,
    work: { readonly plan: BuildPlan; readonly spool: Spool; readonly signal: AbortSignal },
  ): Promise<string>;
}

export function createImageBuilder(core: Core, logs: BuildLogs): ImageBuilder {
  const places = createPlaces(Math.max(1, core.model.build.concurrency));
  return {
    async build(deployment, work) {
      const release = await places.take(work.signal, () =>
        logs.add(deployment, 'Waiting for another build to end'),
      );
      try {
        await assertDisk(core);
        await assertBases(core, work, (line) => logs.add(deployment, line));
        return await run(core, logs, deployment, work);
      } finally {
        release();
      }
    },
  };
}

async function run(
  core: Core,
  logs: BuildLogs,
  deployment: Deployment,
  { plan, spool, signal }: Parameters<ImageBuilder['build']>[1],
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
  // The engine's client would say of an error in the stream that the engine is away.
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
    throw describe(error, { late: late.aborted, cancelled: signal.aborted, timeout });
  }
}

function describe(
  error: unknown,
  { late, cancelled, timeout }: { late: boolean; cancelled: boolean; timeout: number },
): unknown {
  if (cancelled) return new AppError(409, 'CANCELLED', 'The deployment was cancelled');
  if (late)
    return failure.unprocessable(`The build took longer than ${Math.round(timeout / 1000)} s`);
  if (!(error instanceof EngineError) || error.kind === 'unavailable' || error.kind === 'disk')
    return error;
  return new AppError(422, 'BUILD_FAILED', `The build failed: ${error.message.slice(0, 1000)}`, {
    cause: error,
  });
}

/**
 * What a Dockerfile builds on is fetched by the engine, from inside our network, and may bring instructions of its own:
 * both are looked at before. An image that cannot be had is left to the build, which says so.
 */
async function assertBases(
  core: Core,
  { plan, signal }: Parameters<ImageBuilder['build']>[1],
  say: (line: string) => void,
): Promise<void> {
  const engine = core.connection.engine();
  const policy = core.model.build;
  const within = AbortSignal.any([signal, AbortSignal.timeout(policy.timeout)]);
  const find = (image: string) => engine.images.find(image).catch(() => null);
  for (const image of plan.images) {
    const local = await find(image);
    if (!local && !isNamed(image, policy)) await assertPublicAddress(image);
    if (!local) {
      say(`Fetching ${image}`);
      await engine.images.pull(image, within).catch(() => {});
    }
    assertTriggers((local ?? (await find(image)))?.triggers ?? [], policy);
  }
}

/** A full disk stops more than one build: below the floor none is begun. */
async function assertDisk(core: Core): Promise<void> {
  const root = core.connection.info()?.root;
  const disk = root ? await diskOf(root) : null;
  if (disk && disk.free < core.model.diskFloor)
    throw new AppError(507, 'DISK_FULL', 'There is too little free disk space to build');
}

/** So many at a time; the others wait in the order they came. */
function createPlaces(count: number) {
  let free = count;
  const queue: (() => void)[] = [];
  const release = () => {
    const next = queue.shift();
    if (next) next();
    else free += 1;
  };
  return {
    async take(signal: AbortSignal, onWait: () => void): Promise<() => void> {
      if (free > 0) {
        free -= 1;
        return release;
      }
      onWait();
      await new Promise<void>((resolve, reject) => {
        queue.push(resolve);
        signal.addEventListener(
          'abort',
          () => {
            const at = queue.indexOf(resolve);
            if (at >= 0) queue.splice(at, 1);
            reject(new AppError(409, 'CANCELLED', 'The deployment was cancelled'));
          },
          { once: true },
        );
      });
      return release;
    },
  };
}
