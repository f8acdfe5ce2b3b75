import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../core.ts';
import type { HostedApp } from '../records/app.ts';

/**
 * Notices within a moment that a container's process is gone. Podman tells of an end when somebody looks, or when a
 * process of its own has got round to it: an event may come half a minute late. The process's entry in `/proc` is looked
 * at, which costs next to nothing; where the engine runs elsewhere there is no such entry, and events have to do.
 */
export interface LivenessPoll {
  start(): void;
  stop(): Promise<void>;
}

const INTERVAL = 500;
/** Looks after which the engine is asked again about a process that is not in `/proc`, at most: half a minute. */
const MOST = 64;

interface WatchedProcess {
  readonly pid: number;
  readonly mark: string | null;
  /** Without a mark: looks until the engine is asked again, and how many they were. */
  left: number;
  readonly pause: number;
}

export function createLivenessPoll(
  core: Core,
  onDeath: (app: HostedApp, containerId: string) => void,
  every = INTERVAL,
): LivenessPoll {
  const abort = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let watched = new Map<string, WatchedProcess>();

  const look = async () => {
    const seen = new Map<string, WatchedProcess>();
    for (const app of core.apps.all()) {
      const route = core.ingress.get(app.id);
      if (app.desired !== 'running' || route?.state !== 'serving') continue;
      for (const { id } of route.targets) {
        const before = watched.get(id);
        const now = before && !isDue(before) ? before : await ask(app, id, before);
        if (now) seen.set(id, now);
      }
    }
    watched = seen;
  };
  /**
   * A Podman that is busy goes on to say for a while that a process runs which is gone. Where the engine runs elsewhere no
   * process is ever here: it is asked less and less often.
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
      before?.pid === pid && before.mark === null ? Math.min(MOST, 2 * before.pause) : 1;
    return { pid, mark: pid > 0 ? markOf(pid) : null, left: pause, pause };
  };

  return {
    start() {
      loop = (async () => {
        while (!abort.signal.aborted) {
          if (hasProcesses(core))
            await look().catch((error: Error) => core.log.debug(`liveness poll: ${error.message}`));
          await sleep(every, undefined, { signal: abort.signal, ref: false }).catch(() => {});
        }
      })();
    },
    async stop() {
      abort.abort();
      await loop;
    },
  };
}

/** A Swarm's are on other machines, and its managers start them again. */
const hasProcesses = ({ connection }: Core): boolean => connection.info()?.oneMachine === true;

/** Whether the engine has to be asked: the process is gone, or was not here. */
function isDue(watched: WatchedProcess): boolean {
  if (watched.mark !== null) return markOf(watched.pid) !== watched.mark;
  watched.left -= 1;
  return watched.left <= 0;
}

/** When the process began: with its id, that names one process for good. Null when there is none of that id. */
function markOf(pid: number): string | null {
  const text = statOf(pid);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields && fields[0] !== 'Z' ? (fields[19] ?? null) : null;
}

/** The kernel makes it as it is read: the way through a thread would take ten times longer than the reading. */
function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
