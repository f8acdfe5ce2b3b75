import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../core.ts';
import type { App } from '../records/app.ts';

/**
 * Notices within a moment that a container's process is gone. Podman tells of an end when somebody looks, or when a
 * process of its own has got round to it: an event may come half a minute late. The process's entry in `/proc` is looked
 * at, which costs next to nothing; where the engine runs elsewhere there is no such entry, and events have to do.
 */
export interface Pulse {
  start(): void;
  stop(): Promise<void>;
}

const INTERVAL = 500;

interface Watched {
  readonly pid: number;
  readonly mark: string | null;
}

export function createPulse(core: Core, onDeath: (app: App, containerId: string) => void): Pulse {
  const abort = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let watched = new Map<string, Watched>();

  const look = async () => {
    const seen = new Map<string, Watched>();
    for (const app of core.apps.all()) {
      const route = core.ingress.get(app.id);
      if (app.desired !== 'running' || route?.state !== 'serving') continue;
      for (const { id } of route.targets) {
        const known = watched.get(id) ?? (await watch(id));
        if (!known) continue;
        if (known.mark !== null && markOf(known.pid) !== known.mark) await check(app, id);
        else seen.set(id, known);
      }
    }
    watched = seen;
  };
  const watch = async (id: string): Promise<Watched | null> => {
    const detail = await core.connection.engine().inspect(id);
    return detail?.state === 'running' ? { pid: detail.pid, mark: detail.pid > 0 ? markOf(detail.pid) : null } : null;
  };
  const check = async (app: App, id: string) => {
    if (core.leaving.has(id)) return;
    const detail = await core.connection.engine().inspect(id);
    if (detail?.state !== 'running') onDeath(app, id);
  };

  return {
    start() {
      loop = (async () => {
        while (!abort.signal.aborted) {
          if (core.connection.info()) await look().catch((error: Error) => core.log.debug(`pulse: ${error.message}`));
          await sleep(INTERVAL, undefined, { signal: abort.signal, ref: false }).catch(() => {});
        }
      })();
    },
    async stop() {
      abort.abort();
      await loop;
    },
  };
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
