import { readFileSync } from 'node:fs';
import type { Core } from '../host/core.ts';
import { createLoop, type Loop } from '../host/loop.ts';
import type { HostedApp } from '../records/app.ts';

const INTERVAL = 500;
/** The most checks between two questions to the engine, about half a minute. */
const MAX_CHECKS = 64;

interface WatchedProcess {
  readonly pid: number;
  readonly mark: string | null;
  /** For an unknown process: the checks that are left, of `pause`, until the engine is asked. */
  left: number;
  readonly pause: number;
}

/**
 * Notices within half a second that a container's process has ended. Podman reports an end when it
 * is asked, or when one of its own processes notices it, so its event may be 30 seconds late. This
 * reads the process's entry in `/proc`, which costs very little. When the engine runs on another
 * machine there is no such entry, and only events report ends.
 */
export function createLivenessPoll(
  core: Core,
  onDeath: (app: HostedApp, containerId: string) => void,
  every = INTERVAL,
): Loop {
  let watched = new Map<string, WatchedProcess>();

  const look = async () => {
    const seen = new Map<string, WatchedProcess>();
    for (const app of core.apps.all()) {
      const route = core.ingress.get(app.id);
      if (app.desired !== 'running' || route?.state !== 'serving') continue;
      const processes = [...core.processes].filter(([, appId]) => appId === app.id);
      const ids = [...route.targets.map(({ id }) => id), ...processes.map(([id]) => id)];
      for (const id of ids) {
        const before = watched.get(id);
        const now = before && !isDue(before) ? before : await ask(app, id, before);
        if (now) seen.set(id, now);
      }
    }
    watched = seen;
  };
  /**
   * Asks the engine. A busy Podman may still report a process as running after its end. When the
   * engine runs on another machine, the process is never found here, and the engine is asked less
   * and less often.
   */
  const ask = async (
    app: HostedApp,
    id: string,
    before: WatchedProcess | undefined,
  ): Promise<WatchedProcess | null> => {
    if (core.leaving.has(id)) return null;
    const detail = await core.connection.engine().inspect(id);
    if (core.leaving.has(id)) return null;
    if (detail?.state !== 'running') {
      onDeath(app, id);
      return null;
    }
    const { pid } = detail;
    const pause =
      before?.pid === pid && before.mark === null ? Math.min(MAX_CHECKS, 2 * before.pause) : 1;
    return { pid, mark: pid > 0 ? markOf(pid) : null, left: pause, pause };
  };

  return createLoop({
    pause: () => every,
    work: async () => {
      if (hasProcesses(core)) await look();
    },
    onError: (error) => core.log.debug(`liveness poll: ${error.message}`),
  });
}

/** A Swarm runs containers on other machines too, and restarts them itself. */
const hasProcesses = ({ connection }: Core): boolean => connection.info()?.oneMachine === true;

/** Whether to ask the engine: the process has ended, or it was never found on this machine. */
function isDue(watched: WatchedProcess): boolean {
  if (watched.mark !== null) return markOf(watched.pid) !== watched.mark;
  watched.left -= 1;
  return watched.left <= 0;
}

/** When the process began, because ids are reused. Null when no process has this id. */
function markOf(pid: number): string | null {
  const text = statOf(pid);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields && fields[0] !== 'Z' ? (fields[19] ?? null) : null;
}

/**
 * Read synchronously: the kernel creates the text in memory, and a thread would cost ten times more
 * than the read.
 */
function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
