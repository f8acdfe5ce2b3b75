import type { Core } from '../core.ts';
import type { Deployment, AppSource } from '../records/app.ts';
import { fetchGit } from '../source/git.ts';
import { planBuild, type BuildPlan } from '../source/plan.ts';
import { spoolSource, type Spool } from '../source/spool.ts';
import type { SourceLimits } from '../source/tar-filter.ts';
import { unpack } from '../source/unpack.ts';
import type { BuildLogs } from './build-logs.ts';
import type { ImageBuilder } from './builder.ts';
import type { PrepareImage } from './deployer.ts';
import { imageTag } from './containers.ts';

/** A git source, with the token that its record never holds. */
export interface GitSourceWithToken {
  readonly source: Extract<AppSource, { kind: 'git' }>;
  readonly token: string | undefined;
}

/** Images made from source. */
export interface SourceDeploys {
  /** Takes an upload in and says how it is built. @throws AppError 413 and 422: nothing is kept. */
  receive(
    upload: AsyncIterable<Buffer>,
  ): Promise<{ readonly spool: Spool; readonly plan: BuildPlan }>;
  fromUpload(received: { readonly spool: Spool; readonly plan: BuildPlan }): PrepareImage;
  fromGit(git: GitSourceWithToken): PrepareImage;
}

/** How often larger an upload may become. */
const RATIO = 200;
const FILE = 512 * 1024 * 1024;

export function createSourceDeploys(
  core: Core,
  builder: ImageBuilder,
  logs: BuildLogs,
): SourceDeploys {
  const { source: limits, build, git: gitPolicy } = core.model;
  const sourceLimits: SourceLimits = {
    entries: limits.entries,
    total: limits.maxUnpacked,
    file: Math.min(FILE, limits.maxUnpacked),
  };
  const policy = { allowAddUrl: build.allowAddUrl, from: build.from };

  const plan = async (spool: Spool, path?: string) => {
    try {
      return planBuild(spool.listing, { policy, ...(path !== undefined && { path }) });
    } catch (error) {
      await spool.remove();
      throw error;
    }
  };
  const build_ = async (deployment: Deployment, work: Parameters<ImageBuilder['build']>[1]) => {
    const id = await builder.build(deployment, work);
    const app = core.apps.byId(deployment.app_id);
    return {
      id,
      image: imageTag(core.naming, app ?? { name: deployment.app_id }, deployment.number),
    };
  };

  return {
    async receive(upload) {
      const unpacked = unpack(upload, {
        compressed: limits.max,
        total: limits.maxUnpacked + 1024 * limits.entries,
        ratio: RATIO,
      });
      const spool = await spoolSource(unpacked, sourceLimits);
      core.onStep('received');
      return { spool, plan: await plan(spool) };
    },
    fromUpload: ({ spool, plan: known }) =>
      logged(core, logs, async (deployment, signal) => {
        try {
          return await build_(deployment, { plan: known, spool, signal });
        } finally {
          await spool.remove();
        }
      }),
    fromGit: ({ source, token }) =>
      logged(core, logs, async (deployment, signal) => {
        const onLine = (line: string) => logs.add(deployment, line);
        onLine(`Fetching ${source.url}${source.ref === undefined ? '' : ` at ${source.ref}`}`);
        const request = {
          url: source.url,
          ...(source.ref !== undefined && { ref: source.ref }),
          ...(token !== undefined && { token }),
        };
        const fetched = await fetchGit(request, {
          policy: gitPolicy,
          signal,
          onLine,
          limit: limits.maxUnpacked,
        });
        try {
          onLine(`Commit ${fetched.commit}`);
          const spool = await spoolSource(fetched.archive(), sourceLimits);
          try {
            const built = await build_(deployment, {
              plan: await plan(spool, source.path),
              spool,
              signal,
            });
            return { ...built, source: { ...source, commit: fetched.commit } };
          } finally {
            await spool.remove();
          }
        } finally {
          await fetched.remove();
        }
      }),
  };
}

/** Keeps what the build prints, whether it succeeds or not. */
function logged(core: Core, logs: BuildLogs, prepare: PrepareImage): PrepareImage {
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
