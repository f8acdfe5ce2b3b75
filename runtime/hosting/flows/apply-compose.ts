import { AppError } from '@twofold/runtime/errors';
import type { DeployRequest } from '../deploy/deployer.ts';
import type { ReceivedSource } from '../deploy/source-deploys.ts';
import type { HostedApp } from '../records/app.ts';
import type { Leader } from '../leader.ts';
import type { ComposePlan, PlannedApp } from '../compose/compose-plan.ts';

export interface Applied {
  readonly plan: ComposePlan;
  /** The sources of the apps that are built. */
  readonly sources: ReadonlyMap<string, ReceivedSource>;
  /** Whether to delete the apps that are gone. Their volumes are kept. */
  readonly prune: boolean;
}

/**
 * Makes the apps of a project what its compose file says: list by list, so that an app starts when
 * those that it depends on are ready.
 *
 * @throws AppError the error of the first app that fails. Apps that depend on it are not touched.
 */
export async function applyCompose(leader: Leader, applied: Applied): Promise<void> {
  const { levels, gone } = applied.plan;
  for (const level of levels) {
    const work = level
      .filter(({ changes }) => changes)
      .map((app) => applyOne(leader, app, applied));
    const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }
  if (applied.prune) for (const app of gone) await leader.lifecycle.remove(app, { volumes: false });
}

async function applyOne(leader: Leader, planned: PlannedApp, { sources }: Applied): Promise<void> {
  const { apps } = leader;
  const { app, known, spec, env, files, mark } = planned;
  try {
    const stored = known
      ? await apps.update(known.id, { spec: { ...spec, composed: '' }, env, files })
      : await apps.insert({ name: app.name, spec, env, files });
    const request = requestOf(leader, planned, sources.get(app.service));
    if (known) await (await leader.deployer.begin(stored, request)).done;
    else await leader.deployer.first(stored, request);
    const current = apps.byId(stored.id);
    if (current) await apps.update(stored.id, { spec: { ...current.spec, composed: mark } });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, code, message } = error;
    throw new AppError(status, code, `${app.name}: ${message}`, { cause: error });
  }
}

function requestOf(
  leader: Leader,
  { app, from }: PlannedApp,
  received: ReceivedSource | undefined,
): DeployRequest {
  const { deployer, sources } = leader;
  const instead = app.once && {
    instead: (given: HostedApp, number: number) => runOnce(leader, given, number),
  };
  if (received)
    return {
      trigger: 'api',
      source: { kind: 'tarball', sha256: from },
      builds: true,
      prepare: sources.fromUpload(received),
      ...instead,
    };
  return { trigger: 'api', ...deployer.ofImage(from), ...instead };
}

/** Runs a service that others wait for, once, in the image of its new deployment. */
async function runOnce(
  { runs: { runs, runner } }: Leader,
  { id, spec }: HostedApp,
  deployment: number,
): Promise<void> {
  const asked = { command: spec.command ?? [], purpose: 'release' } as const;
  const run = await runs.insert({ id, deployment }, asked);
  const { status, exit_code } = await runner.carry(run).done;
  if (status !== 'done')
    throw new AppError(502, 'RUN_FAILED', `It did not end well: ${status}, exit code ${exit_code}`);
}
