import { Readable } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import { createSemaphore } from '@twofold/runtime/kernel';
import { assertRoom, type Core } from '../host/core.ts';
import { EngineError, isRefusal } from '../engine/errors.ts';
import type { Deployment, HostedApp } from '../records/app.ts';
import { hideSecrets } from '../records/view.ts';
import {
  assertTriggersContained,
  chooseBuild,
  lacking,
  withOwnCaches,
  type BuildChoice,
} from '../source/builder-features.ts';
import { withFrontend } from '../source/dockerfile-lines.ts';
import { NO_OUTPUT } from '../source/generate-node.ts';
import type { BuildPlan } from '../source/plan.ts';
import { assertPublicAddress } from '../source/base-images.ts';
import { assertTriggers, isNamed, type DockerfilePolicy } from '../source/dockerfile.ts';
import type { Spool } from '../source/spool.ts';
import { registryRefused, wantsLogin } from '../registries/refused.ts';
import type { BuildLogs } from './build-logs.ts';
import {
  allStagesPrefix,
  appLabels,
  cacheNamespace,
  imageTag,
  LABELS,
  stagesRepository,
} from '../host/containers.ts';

/** Builds images inside the engine. No program of a user runs directly on this machine. */
export interface ImageBuilder {
  /**
   * Waits until few enough other builds run, then builds.
   *
   * @returns the image's id. @throws AppError 422 when the build fails, 507 when the disk is nearly
   * full.
   */
  build(deployment: Deployment, work: BuildWork): Promise<string>;
  /**
   * Checks whether the engine's builder can build this.
   *
   * @throws AppError 422 that names the line and the instruction, 503 without BuildKit if it is
   * required.
   */
  check(plan: BuildPlan): Promise<void>;
}

export interface BuildWork {
  readonly plan: BuildPlan;
  readonly spool: Spool;
  readonly signal: AbortSignal;
}

export function createImageBuilder(core: Core, logs: BuildLogs): ImageBuilder {
  const semaphore = createSemaphore(Math.max(1, core.model.build.concurrency));
  return {
    check: async (plan) => void (await choose(core, plan)),
    async build(deployment, work) {
      const { signal } = work;
      const start = async () => {
        await assertRoom(core, 'to build');
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

/** @throws AppError 422, 503 */
async function choose(
  core: Core,
  { text, instructions, secrets }: BuildPlan,
): Promise<BuildChoice> {
  const builder = await core.connection.engine().images.builder();
  return chooseBuild(builder, {
    text,
    instructions,
    secrets: secrets.length > 0,
    required: core.model.build.buildkit === 'required',
  });
}

async function run(
  core: Core,
  logs: BuildLogs,
  deployment: Deployment,
  { plan, spool, signal }: BuildWork,
): Promise<string> {
  const app = core.apps.byId(deployment.app_id);
  if (!app) throw failure.notFound('App not found');
  const { timeout } = core.model.build;
  const late = AbortSignal.timeout(timeout);
  const within = AbortSignal.any([signal, late]);
  const secrets = secretsFor(app, plan);
  const choice = await choose(core, plan);
  await fetchFrontend(core, choice, within);
  logs.add(deployment, `Building with ${nameOfFile(plan)}`);
  const context = buildContext(spool, plan, rewritten(core, app, { plan, choice }));
  const settings = {
    ...settingsOf(core, app, { deployment, plan, choice }),
    secrets,
    signal: within,
  };
  let noOutput = '';
  try {
    return await core.connection.engine().images.build(context.read, {
      ...settings,
      onLine(line) {
        if (line.startsWith(NO_OUTPUT)) noOutput = line.trim();
        logs.add(deployment, hideSecrets(app, line));
        core.onStep('building');
      },
    });
  } catch (error) {
    const refused = context.failure();
    if (refused instanceof AppError) throw refused;
    if (noOutput !== '') throw failure.unprocessable(noOutput);
    throw describe(error, { late: late.aborted, timeout, app });
  } finally {
    await trimCache(core);
  }
}

const nameOfFile = ({ kind, dockerfile }: BuildPlan) =>
  kind === 'Dockerfile' ? `the source's ${dockerfile}` : `a Dockerfile made for ${kind}`;

/** The files of a build as a stream, which the engine may read more than once. */
function buildContext(spool: Spool, plan: BuildPlan, changed: Readonly<Record<string, string>>) {
  let failed: unknown;
  return {
    read: (files: Readonly<Record<string, string>> = {}) =>
      Readable.from(spool.read({ ...plan, extra: { ...plan.extra, ...changed, ...files } })).once(
        'error',
        (error) => (failed = error),
      ),
    /** The engine's client reports an error of the stream as if the engine were not reachable. */
    failure: () => failed,
  };
}

interface BuildChoices {
  readonly deployment: Deployment;
  readonly plan: BuildPlan;
  readonly choice: BuildChoice;
}

const settingsOf = (core: Core, app: HostedApp, { deployment, plan, choice }: BuildChoices) => ({
  tag: imageTag(core, app, deployment.number),
  cache: stagesRepository(core, app),
  cacheNamespace: cacheNamespace(core, app),
  labels: {
    ...appLabels(core, app),
    [LABELS.health]: plan.health ? JSON.stringify(plan.health) : '',
  },
  dockerfile: plan.dockerfile,
  target: plan.target,
  args: plan.args,
  memory: core.model.build.memory,
  cpus: 0,
  buildkit: choice.buildkit,
  fresh: choice.fresh,
});

async function trimCache({ connection, naming, model, log }: Core): Promise<void> {
  await connection
    .engine()
    .images.trimCache({ cache: allStagesPrefix({ naming }), limit: model.build.cache })
    .catch((error: Error) => log.warn(`the build cache stays as it is: ${error.message}`));
}

/** @throws AppError 422 for a secret that the app does not have. */
function secretsFor(
  { name, secrets }: HostedApp,
  plan: BuildPlan,
): Readonly<Record<string, string>> {
  const missing = plan.secrets.find((key) => !Object.hasOwn(secrets, key));
  if (missing !== undefined)
    throw failure.unprocessable(
      `build.secrets names ${missing}, which is no secret of ${name}: set it with PUT /api/apps/${name}/secrets/${missing}`,
    );
  return Object.fromEntries(plan.secrets.map((key) => [key, secrets[key] as string]));
}

/** The Dockerfile, if it has to be changed: for its frontend, and for Podman's common caches. */
function rewritten(
  core: Core,
  app: HostedApp,
  { plan, choice }: { readonly plan: BuildPlan; readonly choice: BuildChoice },
): Readonly<Record<string, string>> {
  const { text, instructions, dockerfile } = plan;
  const changed = choice.buildkit
    ? withFrontend(text, choice.frontend)
    : withOwnCaches(text, instructions, cacheNamespace(core, app));
  return changed === text ? {} : { [dockerfile]: changed };
}

/** @throws AppError 422 with the line that needs the frontend, when it cannot be pulled. */
async function fetchFrontend(
  core: Core,
  { frontend, needs }: BuildChoice,
  signal: AbortSignal,
): Promise<void> {
  if (frontend === null || needs === null) return;
  const { images } = core.connection.engine();
  if (await images.find(frontend)) return;
  try {
    await images.pull(frontend, signal);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const why = ` by itself, and the frontend ${frontend} cannot be pulled (${error.message.slice(0, 200)})`;
    throw lacking(await images.builder(), needs, why);
  }
}

function describe(
  error: unknown,
  {
    late,
    timeout,
    app,
  }: { readonly late: boolean; readonly timeout: number; readonly app: HostedApp },
): unknown {
  if (late)
    return failure.unprocessable(`The build took longer than ${Math.round(timeout / 1000)} s`);
  if (!isRefusal(error)) return error;
  const message = hideSecrets(app, error.message).slice(0, 1000);
  return new AppError(422, 'BUILD_FAILED', `The build failed: ${message}`);
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
  const builder = await engine.images.builder();
  const within = AbortSignal.any([signal, AbortSignal.timeout(core.model.build.timeout)]);
  const find = (image: string) => engine.images.find(image).catch(() => null);
  for (const image of plan.images) {
    const local = await find(image);
    if (!local && !isNamed(image, policy)) await assertPublicAddress(image);
    if (!local) {
      say(`Fetching ${image}`);
      await pullBase(core, image, within);
    }
    const triggers = (local ?? (await find(image)))?.triggers ?? [];
    assertTriggers(triggers, policy);
    assertTriggersContained(builder, triggers);
  }
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

/** What Dockerfiles may do. A registry whose user was set by the API counts as named in `from`. */
export async function buildPolicy({ model, registries }: Core): Promise<DockerfilePolicy> {
  const { allowAddUrl, from } = model.build;
  return { allowAddUrl, from: [...from, ...(await registries.named())] };
}
