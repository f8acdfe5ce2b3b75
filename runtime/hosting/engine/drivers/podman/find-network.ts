import type Dockerode from 'dockerode';
import { nullIfNotFound } from '../../dockerode/calls.ts';
import type { FindNetworks } from '../../dockerode/owned.ts';

interface PodmanNetwork {
  readonly labels?: Readonly<Record<string, string>>;
  readonly subnets?: readonly { readonly gateway?: string }[];
}

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

function inspect({ modem }: Dockerode, name: string): Promise<PodmanNetwork> {
  const { dial } = modem as {
    dial(options: object, done: (error: unknown, found: PodmanNetwork) => void): void;
  };
  const path = `/v4.0.0/libpod/networks/${encodeURIComponent(name)}/json`;
  const statusCodes = { 200: true, 404: 'no such network', 500: 'server error' };
  return new Promise((resolve, reject) =>
    dial.call(modem, { path, method: 'GET', statusCodes }, (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );
}
