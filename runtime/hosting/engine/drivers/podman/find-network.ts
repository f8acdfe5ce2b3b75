import type Dockerode from 'dockerode';
import { ignoring, nullIfNotFound } from '../../dockerode/calls.ts';
import type { FindNetworks } from '../../dockerode/owned.ts';

interface PodmanNetwork {
  readonly labels?: Readonly<Record<string, string>>;
  readonly subnets?: readonly { readonly gateway?: string }[];
  readonly options?: Readonly<Record<string, string>>;
}

/** What our networks have, whichever server made them. */
const OURS = 'twofold.instance';

/**
 * Asks Podman's own API, which has one network of a name at most. Its Docker-compatible one (4.3.1)
 * removes the options of a network that it describes from memory: containers that start later are
 * no longer isolated.
 */
export const findPodmanNetworks: FindNetworks = async (client, name) => {
  const found = await nullIfNotFound(() => inspect(client, name));
  if (!found) return [];
  const { labels = {}, subnets } = found;
  // Its name, which nothing else has: by its id Podman removes a network that containers have.
  return [{ id: name, labels, gateway: subnets?.[0]?.gateway ?? null }];
};

/**
 * Makes Podman read its networks again when it has forgotten the options of one of ours, because
 * another program asked for a list of them: a container that is started now would be reachable from
 * all networks. Podman reads them after each change of any network.
 */
export async function isolateAgain(client: Dockerode): Promise<void> {
  const networks = await ask<readonly PodmanNetwork[]>(client, 'networks/json');
  const isOpen = ({ labels, options }: PodmanNetwork) =>
    labels?.[OURS] !== undefined && options?.['isolate'] === undefined;
  if (!networks.some(isOpen)) return;
  const name = 'twofold-read-again';
  // One that a killed server left, or that another server makes now, is as good.
  await ignoring(
    ['conflict'],
    async () => void (await client.createNetwork({ Name: name, Internal: true })),
  );
  await ignoring(['not_found'], async () => void (await client.getNetwork(name).remove()));
}

const inspect = (client: Dockerode, name: string) =>
  ask<PodmanNetwork>(client, `networks/${encodeURIComponent(name)}/json`);

function ask<Answer>({ modem }: Dockerode, resource: string): Promise<Answer> {
  const { dial } = modem as {
    dial(options: object, done: (error: unknown, found: Answer) => void): void;
  };
  const path = `/v4.0.0/libpod/${resource}`;
  const statusCodes = { 200: true, 404: 'no such network', 500: 'server error' };
  return new Promise((resolve, reject) =>
    dial.call(modem, { path, method: 'GET', statusCodes }, (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );
}
