import type { HostingModel } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import type { Deployment, GitSource, HostedApp } from '../records/app.ts';
import type { BuildSettings } from '../records/build-settings.ts';
import { type Fetched, fetchGit } from '../source/git.ts';
import { parseGitUrl } from '../source/git-url.ts';
import { gitHostName } from '../ssh/host-keys.ts';
import { type BuildPlan, dockerfilePaths, planBuild } from '../source/plan.ts';
import { type Spool, spoolSource } from '../source/spool.ts';
import type { SourceLimits } from '../source/tar-filter.ts';
import { unpack, type UnpackLimits } from '../source/unpack.ts';
import type { BuildLogs } from './build-logs.ts';
import { buildPolicy, type ImageBuilder } from './builder.ts';
import type { PrepareImage } from './deployer.ts';
import type { KeptUploads } from './kept-uploads.ts';
import { publishImage } from './publish-image.ts';

/** A git repository, with the credentials that are never stored in a deployment's record. */
export interface GitSourceWithToken {
  readonly source: GitSource;
  readonly token: string | undefined;
  /** The private half of the deploy key. */
  readonly key: string | undefined;
}

/** An upload that has been checked and stored, and the plan of its build. */
export interface ReceivedSource {
  readonly spool: Spool;
  readonly plan: BuildPlan;
}

/** Builds images from source. */
export interface SourceDeploys {
  /** Stores an upload. @throws AppError 413 or 422, after which nothing is left on the disk. */
  receive(upload: AsyncIterable<Buffer>): Promise<Spool>;
  /**
   * Plans the build of a stored source. @throws AppError 422, 503: as `planBuild` and
   * `ImageBuilder.check`.
   */
  plan(spool: Spool, settings: BuildSettings | undefined): Promise<ReceivedSource>;
  fromUpload(received: ReceivedSource): PrepareImage;
  /**
   * The app's last upload, if it was not built. It is planned again: the app's settings may be others.
   *
   * @returns null when there is none. @throws AppError as `plan`.
   */
  lastUpload(app: HostedApp): Promise<ReceivedSource | null>;
  fromGit(git: GitSourceWithToken): PrepareImage;
}

/** How many times larger the unpacked source may be than the upload. */
const MAX_RATIO = 200;
/** The most bytes of one file in a source. */
const MAX_FILE = 512 * 1024 * 1024;
/** Bytes that the header of each archive entry may add to the unpacked size. */
const ENTRY_HEADER = 1024;

export function createSourceDeploys(
  core: Core,
  builder: ImageBuilder,
  logs: BuildLogs,
  uploads: KeptUploads,
): SourceDeploys {
  return {
    async receive(upload) {
      const spool = await spoolSource(unpack(upload, unpackLimits(core.model)), limitsOf(core));
      core.onStep('received');
      return spool;
    },
    plan: (spool, settings) => plan(core, builder, { spool, settings }),
    fromUpload: (received) =>
      withStoredLog(core, logs, async (deployment, signal) => {
        await keepUpload(core, uploads, { deployment, spool: received.spool });
        const built = await build(core, builder, {
          deployment,
          received,
          signal,
          onLine: (line) => logs.add(deployment, line),
        });
        await uploads.forget(deployment.app_id);
        return built;
      }),
    lastUpload: (app) => lastUpload(core, builder, uploads, app),
    fromGit: (git) =>
      withStoredLog(core, logs, (deployment, signal) =>
        buildFromGit(core, builder, {
          deployment,
          signal,
          git,
          onLine: (line) => logs.add(deployment, line),
        }),
      ),
  };
}

/** How far an upload is unpacked. */
export const unpackLimits = ({ source }: Pick<HostingModel, 'source'>): UnpackLimits => ({
  compressed: source.max,
  total: source.maxUnpacked + ENTRY_HEADER * source.entries,
  ratio: MAX_RATIO,
});

const limitsOf = ({ model: { source } }: Core): SourceLimits => ({
  entries: source.entries,
  total: source.maxUnpacked,
  file: Math.min(MAX_FILE, source.maxUnpacked),
});

interface PlanRequest {
  readonly spool: Spool;
  readonly settings: BuildSettings | undefined;
  readonly path?: string | undefined;
}

async function plan(
  core: Core,
  builder: ImageBuilder,
  { spool, settings, path }: PlanRequest,
): Promise<ReceivedSource> {
  for (const file of dockerfilePaths(spool.listing, { settings, path })) await spool.load(file);
  const planned = planBuild(spool.listing, {
    policy: await buildPolicy(core),
    settings,
    ...(path !== undefined && { path }),
  });
  await builder.check(planned);
  return { spool, plan: planned };
}

async function lastUpload(
  core: Core,
  builder: ImageBuilder,
  uploads: KeptUploads,
  { id, spec }: HostedApp,
): Promise<ReceivedSource | null> {
  const stored = await uploads.open(id);
  if (!stored) return null;
  const spool = await spoolSource(stored, limitsOf(core));
  return plan(core, builder, { spool, settings: spec.build }).catch(async (error: unknown) => {
    await spool.remove();
    throw error;
  });
}

/** A build does not fail because its upload cannot be kept: a full disk is the builder's to report. */
async function keepUpload(
  core: Core,
  uploads: KeptUploads,
  { deployment, spool }: { readonly deployment: Deployment; readonly spool: Spool },
): Promise<void> {
  try {
    await uploads.prune((id) => core.apps.byId(id) !== undefined);
    await uploads.keep(deployment.app_id, spool);
  } catch (error) {
    core.log.warn(`an upload is not kept for another attempt: ${(error as Error).message}`);
  }
}

interface BuildRequest {
  readonly deployment: Deployment;
  readonly received: ReceivedSource;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** Builds a stored source, and removes it from the disk afterwards. */
async function build(
  core: Core,
  builder: ImageBuilder,
  { deployment, received: { spool, plan }, signal, onLine }: BuildRequest,
) {
  try {
    const id = await builder.build(deployment, { plan, spool, signal });
    const app = core.apps.byId(deployment.app_id);
    if (!app) throw failure.notFound('App not found');
    const { name } = app;
    const image = await publishImage(core, {
      name,
      deployment: deployment.number,
      id,
      signal,
      onLine,
    });
    return { id, image };
  } finally {
    await spool.remove();
  }
}

interface GitBuildRequest extends Omit<BuildRequest, 'received'> {
  readonly git: GitSourceWithToken;
}

async function buildFromGit(
  core: Core,
  builder: ImageBuilder,
  { deployment, signal, git: { source, ...credentials }, onLine }: GitBuildRequest,
) {
  onLine(`Fetching ${source.url}${source.ref === undefined ? '' : ` at ${source.ref}`}`);
  const fetched = await fetchSource(core, { source, ...credentials }, { signal, onLine });
  try {
    onLine(`Commit ${fetched.commit}`);
    const spool = await spoolSource(fetched.archive(), limitsOf(core));
    const built = await buildPlanned(core, builder, {
      deployment,
      signal,
      spool,
      onLine,
      path: source.path,
    });
    return { ...built, source: { ...source, commit: fetched.commit } };
  } finally {
    await fetched.remove();
  }
}

/** Fetches a commit, and pins the key of a host that is used for the first time. */
async function fetchSource(
  { model, hostKeys }: Core,
  { source: { url, ref }, token, key }: GitSourceWithToken,
  on: { readonly signal: AbortSignal; readonly onLine: (line: string) => void },
): Promise<Fetched> {
  const host = gitHostName(parseGitUrl(url, model.git));
  const request = {
    url,
    ssh: { privateKey: key, pinned: await hostKeys.find(host) },
    ...(ref !== undefined && { ref }),
    ...(token !== undefined && { token }),
  };
  const fetched = await fetchGit(request, {
    policy: model.git,
    limit: model.source.maxUnpacked,
    ...on,
  });
  try {
    if (fetched.hostKey && !request.ssh.pinned) await hostKeys.pin(host, fetched.hostKey);
    return fetched;
  } catch (error) {
    await fetched.remove();
    throw error;
  }
}

async function buildPlanned(
  core: Core,
  builder: ImageBuilder,
  {
    deployment,
    signal,
    onLine,
    spool,
    path,
  }: Omit<BuildRequest, 'received'> & Omit<PlanRequest, 'settings'>,
) {
  try {
    const settings = core.apps.byId(deployment.app_id)?.spec.build;
    const received = await plan(core, builder, { spool, settings, path });
    return await build(core, builder, { deployment, received, signal, onLine });
  } finally {
    await spool.remove();
  }
}

/** Stores what the build prints in the deployment's record, whether the build succeeds or fails. */
function withStoredLog(core: Core, logs: BuildLogs, prepare: PrepareImage): PrepareImage {
  return async (deployment, signal) => {
    logs.open(deployment);
    try {
      return await prepare(deployment, signal);
    } catch (error) {
      logs.add(deployment, `ERROR: ${(error as Error).message}`);
      throw error;
    } finally {
      await core.deployments.update(deployment, { build_log: logs.close(deployment) });
    }
  };
}
