import { setTimeout as sleep } from 'node:timers/promises';
import { bindFlows, type BoundRoute, type Handler } from '@twofold/runtime/http';
import type { Kernel } from '@twofold/runtime/kernel';
import { instanceLabels, networkName } from './host/containers.ts';
import { createHealthWatch } from './deploy/health-watch.ts';
import { createLivenessPoll } from './deploy/liveness-poll.ts';
import { createReconciler, failUnfinished } from './deploy/reconciler.ts';
import { createSupervisor } from './deploy/supervisor.ts';
import { FIGURES } from './flows/figures.ts';
import { hostingFlows } from './flows/index.ts';
import { asFullDisk } from './host/full-disk.ts';
import type { HostedPart } from './hosted-part.ts';
import type { Listening } from './ingress/listeners.ts';
import { createLeader, type Leader, type LeaderOptions } from './leader.ts';
import { watchCore } from './notifications/watch.ts';
import type { LeaderSession } from './operator/operator.ts';
import { nameInstance } from './records/settings-table.ts';
import { removeLeftovers } from './source/leftovers.ts';

/** Milliseconds in which running requests can finish when the server stops. */
const CLOSE_TIMEOUT = 5000;
/** Milliseconds in which messages that are due can be sent when the server stops. */
const NOTIFY_TIMEOUT = 5000;
/** Milliseconds after which the ingress listens even if the engine's state is not known. */
const ENGINE_TIMEOUT = 7000;

/**
 * Everything that operates the apps while this process is the leader. Each time the process becomes
 * the leader, a new session is created, so that no state of an earlier session is left.
 */
export function createLeaderSession(
  kernel: Kernel,
  parts: readonly HostedPart[],
  options: LeaderOptions,
): LeaderSession {
  const leader = createLeader(kernel, options);
  const { apps, certificates, connection, events, ingress, model, ports, terminals } = leader;
  const works = parts.map(({ hosted }) => hosted.createWork({ kernel, model, events }));
  apps.onChange(() => certificates.wake());
  apps.onChange(({ name, status, deployment }) =>
    events.emit('app', { app: name, status, deployment }),
  );
  const work = createWork(leader, [...works, leader.previews]);
  return {
    begin: work.begin,
    async end() {
      terminals.close();
      await work.end();
    },
    upgrade: terminals.accept,
    leave: terminals.close,
    routeApi: () => options.entry.route(ingress),
    retire: () => options.entry.retire(ingress),
    answer: answerOf([
      ...bindFlows([...hostingFlows, FIGURES], leader),
      ...parts.flatMap(({ flows }, at) => bindFlows(flows, works[at]?.state)),
    ]),
    async state() {
      const podman = (await connection.connected()) ? 'connected' : 'disconnected';
      return { podman, engine: connection.info()?.kind ?? null, ingress: ingressState(ports()) };
    },
  };
}

/** For `/api/health`: whether both ports of the ingress are open. */
export const ingressState = ({ http, https }: Pick<Listening, 'http' | 'https'>) =>
  http !== null && https !== null ? 'listening' : 'unavailable';

interface Work {
  start(): void | Promise<void>;
  stop(): Promise<void>;
}

/** The background work of the leader. */
function createWork(leader: Leader, parts: readonly Work[]) {
  const { backups, certificates, connection, log, moves, notifications, runs } = leader;
  const supervisor = createSupervisor(leader);
  const reconciler = createReconciler(leader, supervisor);
  const loops: readonly Work[] = [
    runs.schedules,
    reconciler,
    createLivenessPoll(leader, supervisor.onDeath),
    createHealthWatch(leader, (app, id, detail) => {
      log.warn(`${app.name} failed its health check and is restarted: ${detail}`);
      supervisor.onSick(app, id, `Its health check failed: ${detail}`);
    }),
    certificates,
    watchCore(leader, notifications),
    backups,
    moves,
  ];
  return {
    async begin() {
      await removeLeftovers();
      await backups.adopt();
      await nameInstance(leader.store, leader.naming);
      await leader.apps.load();
      await failUnfinished(leader);
      await backups.recover();
      await moves.recover();
      await leader.ingress.attach();
      await certificates.load();
      // An app that takes long to start must not delay the other apps and the API.
      await Promise.race([
        connection.start([supervisor, runs.runner, reconciler]),
        sleep(ENGINE_TIMEOUT, undefined, { ref: false }),
      ]);
      await leader.listen();
      notifications.start();
      runs.runner.start();
      for (const work of [...loops, ...parts]) await work.start();
      log.info(
        `hosting apps at *.${leader.model.domain}, port ${leader.ports().http ?? 'not open'}`,
      );
    },
    async end() {
      await Promise.all([supervisor.stop(), ...loops.map((loop) => loop.stop())]);
      await Promise.all([leader.operations.stop(), ...parts.map((part) => part.stop())]);
      await runs.runner.end();
      await notifications.stop(NOTIFY_TIMEOUT);
      await leader.ingress.close(CLOSE_TIMEOUT);
      await removeUnusedNetwork(leader);
      await connection.stop();
    },
  };
}

/** Without apps the network is not needed, and engines have a limited number of networks. */
async function removeUnusedNetwork({ apps, connection, naming }: Leader): Promise<void> {
  if (apps.all().length > 0 || !connection.info()) return;
  await connection
    .engine()
    .removeNetwork(networkName({ naming }), instanceLabels({ naming }))
    .catch(() => {});
}

/** Runs the flow of a call: one of hosting, or of a part that works inside hosting. */
function answerOf(routes: readonly BoundRoute[]): Handler {
  const handlers = new Map(routes.map(({ spec, handle }) => [spec.id, handle]));
  return async (call) => {
    try {
      return await handlers.get(call.route.id)!(call);
    } catch (error) {
      return asFullDisk(error);
    }
  };
}
