import { readFileSync } from 'node:fs';
import type Dockerode from 'dockerode';
import { EngineError, toEngineError } from '../errors.ts';
import type { LogFormat } from './records.ts';

/** Where an engine on this machine writes a container's output. */
export interface LogPlace {
  readonly path: string;
  readonly format: LogFormat;
  /** Whether more may come. */
  readonly open: boolean;
  /** Tells once when nothing more will be written; why, when the engine went away. */
  watchEnd(onEnd: (failure?: EngineError) => void): { close(): void };
}

/** Null when there is no file, or none that can be read so. */
export type FindLogPlace = (client: Dockerode, id: string) => Promise<LogPlace | null>;

/** Docker's daemon writes it, and has when it says that the container has ended. */
export const dockerLogPlace: FindLogPlace = async (client, id) => {
  const container = client.getContainer(id);
  const { LogPath, HostConfig, State } =
    (await container.inspect()) as Dockerode.ContainerInspectInfo & {
      HostConfig: { LogConfig?: Dockerode.LogConfig };
    };
  const { Type, Config } = HostConfig.LogConfig ?? {};
  if (Type !== 'json-file' || !LogPath || Config?.['compress'] === 'true') return null;
  return {
    path: LogPath,
    format: 'json-file',
    open: State.Running,
    watchEnd(onEnd) {
      const abort = new AbortController();
      container.wait({ abortSignal: abort.signal } as object).then(
        () => onEnd(),
        (error) => onEnd(goneOr(toEngineError(error))),
      );
      return { close: () => abort.abort() };
    },
  };
};

const goneOr = (error: EngineError) => (error.kind === 'unavailable' ? error : undefined);

interface PodmanContainer {
  readonly State: { readonly Running: boolean; readonly ConmonPid?: number };
  readonly HostConfig: { readonly LogConfig?: { readonly Type: string; readonly Path?: string } };
}

/** How often it is looked whether a process is there: Podman's own word for the end comes late, or before the last lines. */
const LOOK = 100;

/** The container's conmon writes it, and ends when all is written. */
export const podmanLogPlace: FindLogPlace = async (client, id) => {
  const { State, HostConfig } = await ask<PodmanContainer>(
    client,
    `/v4.0.0/libpod/containers/${id}/json`,
  );
  const { Type = '', Path } = HostConfig.LogConfig ?? {};
  const pid = State.ConmonPid ?? 0;
  const open = isWriter(pid, id);
  // Podman runs elsewhere when it says that a process is there which is not.
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
      }, LOOK);
      return { close: () => clearInterval(timer) };
    },
  };
};

/** Its arguments name the container. One that has ended and was not waited for has none. */
function isWriter(pid: number, id: string): boolean {
  try {
    return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(id);
  } catch {
    return false;
  }
}

function ask<T>({ modem }: Dockerode, path: string): Promise<T> {
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
