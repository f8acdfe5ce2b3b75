import type Dockerode from 'dockerode';
import { ignoring } from '../../dockerode/calls.ts';
import type { ContainerSpec } from '../../engine.ts';
import { EngineError, toEngineError } from '../../errors.ts';

/** A config of Docker Swarm as a service refers to it: a file that is there on every machine. */
export interface ConfigReference {
  readonly ConfigID: string;
  readonly ConfigName: string;
  readonly File: {
    readonly Name: string;
    readonly UID: string;
    readonly GID: string;
    readonly Mode: number;
  };
}

/**
 * Keeps the files of a container as configs, because its task may start on any machine. `prefix` is
 * the name of the service. A config belongs to one service, and is removed with it.
 *
 * @throws EngineError `unsupported` for a file that Swarm does not take: an empty one, or one of
 * more than 500 or 1000 KB (by version).
 */
export async function createConfigs(
  client: Dockerode,
  prefix: string,
  { files = [], labels }: Pick<ContainerSpec, 'files' | 'labels'>,
): Promise<readonly ConfigReference[]> {
  const made: ConfigReference[] = [];
  try {
    for (const [index, { path, content, executable }] of files.entries()) {
      const name = `${prefix.slice(0, 58)}-f${index}`;
      const spec = { Name: name, Labels: { ...labels }, Data: content };
      // Sent in the body only: dockerode puts the content into the URL too.
      const { id } = await client.createConfig({ _query: {}, _body: spec } as never);
      const File = { Name: path, UID: '0', GID: '0', Mode: executable ? 0o555 : 0o444 };
      made.push({ ConfigID: id, ConfigName: name, File });
    }
    return made;
  } catch (error) {
    await removeConfigs(client, made);
    throw explain(error, files[made.length]?.path ?? '');
  }
}

/** Removes the configs of a service that is gone. */
export async function removeConfigs(
  client: Dockerode,
  configs: readonly Pick<ConfigReference, 'ConfigID'>[],
): Promise<void> {
  for (const { ConfigID } of configs)
    await ignoring(
      ['not_found'],
      async () => void (await client.getConfig(ConfigID).remove()),
    ).catch(() => {});
}

function explain(thrown: unknown, path: string): EngineError {
  const error = toEngineError(thrown);
  if (!/config data must be/i.test(error.message)) return error;
  return new EngineError(
    'unsupported',
    `Docker Swarm cannot copy ${path} into a container: ${error.message}`,
    thrown,
  );
}
