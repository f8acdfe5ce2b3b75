import type Dockerode from 'dockerode';
import { type EngineError, toEngineError } from '../../errors.ts';
import type { FindLogPlace } from '../../logs/log-place.ts';

/**
 * Finds the log file of a container. Docker's daemon writes this file itself, and the file is
 * complete when the daemon reports the end of the container.
 */
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
