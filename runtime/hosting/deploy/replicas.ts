import { setTimeout as sleep } from 'node:timers/promises';
import { failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { placement } from '../host/core.ts';
import type { ContainerDetail, ContainerSpec, EngineContainer } from '../engine/engine.ts';
import type { RouteTarget } from '../ingress/route-table.ts';
import { type HostedApp, healthCheckOf, type ProbeRecord } from '../records/app.ts';
import { hideSecrets } from '../records/view.ts';
import { instanceLabels, LABELS, targetOf, volumeName } from '../host/containers.ts';
import { describeListening } from './listening.ts';
import { ensureNetworks } from './project-networks.ts';
import { createStartProbe, waitUntilReady } from './probe.ts';

/** A replica that was started, and whether it became ready. */
export interface StartedReplica {
  readonly id: string;
  readonly target: RouteTarget | null;
  readonly ready: boolean;
  readonly reason: string;
  readonly probes: readonly ProbeRecord[];
}

/** Seconds between SIGTERM and SIGKILL, unless the app sets them. */
const GRACE = 10;
const LAST_LINES = 100;

/** Creates the app's volumes and networks where they do not exist. */
export async function ensureVolumes(core: Core, app: HostedApp): Promise<void> {
  const engine = core.connection.engine();
  const labels = instanceLabels(core);
  for (const { name, external } of app.spec.volumes) {
    const full = volumeName(core, app, name);
    if (external && (await engine.volumeLabels(full)) === null)
      throw failure.unprocessable(
        `The volume ${full} does not exist, and external ones are not created`,
      );
    await engine.ensureVolume(full, labels);
  }
  await ensureNetworks(core, app);
}

/** Creates a container without starting it. @returns its id. */
export async function createContainer(core: Core, spec: ContainerSpec): Promise<string> {
  const engine = core.connection.engine();
  // Another machine pulls the image itself.
  const login = engine.reschedules ? await core.registries.loginFor(spec.reference) : undefined;
  return engine.create(spec, login);
}

/**
 * Starts a container and waits until it is ready. An app that does not work is not an exception
 * here: `reason` describes the problem.
 */
export async function startReplica(
  core: Core,
  app: HostedApp,
  { id, port, signal }: { id: string; port: number | null; signal: AbortSignal },
): Promise<StartedReplica> {
  const engine = core.connection.engine();
  const failed = (reason: string, probes: readonly ProbeRecord[] = []) => ({
    id,
    target: null,
    ready: false,
    reason,
    probes,
  });
  try {
    await engine.start(id);
    core.onStep('started');
  } catch (error) {
    if (['unavailable', 'disk'].includes(String((error as { kind?: string }).kind))) throw error;
    return failed(`It could not be started: ${(error as Error).message}`);
  }
  const detail = await inspectWithAddress(core, id, port);
  const target = detail && targetOf(detail, port, placement(core));
  if (!target) return failed(detail ? describeEnd(detail, app) : 'The container is gone');
  const { probe, timeout } = createStartProbe(healthCheckOf(app.spec), target, {
    engine,
    host: app.spec.domain,
    now: core.now,
    timeout: core.model.deploys.readyTimeout,
  });
  const readiness = await waitUntilReady(probe, {
    timeout,
    now: core.now,
    signal,
    hint: () => describeListening(detail.pid, port),
    ended: async () => {
      const seen = await engine.inspect(id);
      return seen?.state === 'running'
        ? null
        : seen
          ? describeEnd(seen, app)
          : 'The container is gone';
    },
  });
  return { id, target, ...readiness };
}

/** Some engines report the address a moment after the start. */
async function inspectWithAddress(
  core: Core,
  id: string,
  port: number | null,
): Promise<ContainerDetail | null> {
  for (let attempt = 0; ; attempt += 1) {
    const detail = await core.connection.engine().inspect(id);
    if (
      !detail ||
      detail.state !== 'running' ||
      targetOf(detail, port, placement(core)) ||
      attempt === 20
    )
      return detail;
    await sleep(50);
  }
}

/** A sentence that says why a container does not run. */
export function describeEnd(detail: ContainerDetail, app: HostedApp): string {
  const { exitCode, error, outOfMemory, state } = detail;
  if (state === 'created') return `It could not be started${error ? `: ${error}` : ''}`;
  // Podman does not report that memory ran out. Exit code 137 (SIGKILL) in a container with a
  // memory limit nearly always means that.
  const limit = app.spec.resources.memory_mb;
  const memory =
    outOfMemory || (exitCode === 137 && limit > 0)
      ? ` (probably out of memory: the limit is ${limit} MB)`
      : '';
  const code = exitCode === null ? '' : ` with exit code ${exitCode}`;
  return `It ended${code}${memory}${error ? `: ${error}` : ''}`;
}

/**
 * Waits until the containers' requests are finished, then stops the containers, and removes them
 * unless `keep` is set.
 */
export async function retire(
  core: Core,
  containers: readonly EngineContainer[],
  { keep = false, drain = core.model.deploys.drain } = {},
): Promise<void> {
  const ids = containers.map(({ id }) => id);
  for (const id of ids) {
    core.leaving.add(id);
    core.processes.delete(id);
  }
  try {
    await core.ingress.drain(ids, drain);
    if (!keep) core.onStep('drained');
    await Promise.all(containers.map((container) => takeDown(core, container, keep)));
    core.ingress.abandon(ids);
  } finally {
    for (const id of ids) core.leaving.delete(id);
  }
}

async function takeDown(core: Core, { id, labels }: EngineContainer, keep: boolean): Promise<void> {
  const engine = core.connection.engine();
  const grace = Number(labels[LABELS.grace] ?? GRACE);
  await engine.stop(id, grace).catch((error: { kind?: string }) => {
    if (error.kind !== 'not_found') throw error;
  });
  if (keep) return;
  core.onStep('stopped');
  await engine.remove(id);
  core.onStep('removed');
}

/** The last lines that the containers printed, for the record of a failure. */
export async function lastLines(
  core: Core,
  app: HostedApp,
  ids: readonly string[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const id of ids) {
    try {
      for await (const batch of core.connection.engine().logs(id, { tail: LAST_LINES }))
        lines.push(...batch.map(({ text }) => hideSecrets(app, text).slice(0, 2000)));
    } catch {
      // A container that was never created has no output.
    }
  }
  return lines.slice(-LAST_LINES);
}
