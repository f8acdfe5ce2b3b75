import { readFileSync } from 'node:fs';
import type Dockerode from 'dockerode';
import type { FindLogPlace } from '../../logs/log-place.ts';

interface PodmanContainer {
  readonly State: { readonly Running: boolean; readonly ConmonPid?: number };
  readonly HostConfig: { readonly LogConfig?: { readonly Type: string; readonly Path?: string } };
}

/**
 * Milliseconds between two checks of the writing process. Podman itself reports the end of a
 * container late, or before the last lines are written.
 */
const CHECK_INTERVAL = 100;

/** The container's conmon process writes the file, and ends when everything is written. */
export const podmanLogPlace: FindLogPlace = async (client, id) => {
  const { State, HostConfig } = await requestJson<PodmanContainer>(
    client,
    `/v4.0.0/libpod/containers/${id}/json`,
  );
  const { Type = '', Path } = HostConfig.LogConfig ?? {};
  const pid = State.ConmonPid ?? 0;
  const open = isWriter(pid, id);
  // A running container without a conmon process on this machine means that Podman runs on another
  // machine.
  if (!Path || !/^(json|k8s)-file$/.test(Type) || (State.Running && !open)) return null;
  return {
    path: Path,
    format: 'k8s-file',
    open,
    watchEnd(onEnd) {
      const timer = setInterval(() => {
        if (isWriter(pid, id)) return;
        clearInterval(timer);
        onEnd();
      }, CHECK_INTERVAL);
      return { close: () => clearInterval(timer) };
    },
  };
};

/**
 * Whether this process is the container's conmon: its arguments contain the container's id. A
 * zombie process has no arguments.
 */
function isWriter(pid: number, id: string): boolean {
  try {
    return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(id);
  } catch {
    return false;
  }
}

function requestJson<T>({ modem }: Dockerode, path: string): Promise<T> {
  const dial = modem.dial.bind(modem) as unknown as (
    options: object,
    done: (error: unknown, answer: T) => void,
  ) => void;
  return new Promise((resolve, reject) =>
    dial({ path, method: 'GET', statusCodes: { 200: true } }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    ),
  );
}
