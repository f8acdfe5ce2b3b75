import type Dockerode from 'dockerode';
import { ignoring, nullIfNotFound } from './calls.ts';
import { assertOurs } from '../errors.ts';

interface Labelled {
  readonly Labels?: Readonly<Record<string, string>> | null;
}

/**
 * Creates a volume. An engine answers this call with success when a volume of this name exists,
 * even if it belongs to another program, so the labels are checked first.
 */
export async function ensureVolume(
  client: Dockerode,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const found = await nullIfNotFound(() => client.getVolume(name).inspect());
  if (found) return assertOurs(`The volume ${name}`, found.Labels, labels);
  await client.createVolume({ Name: name, Labels: { ...labels } });
}

/** Creates a network if it does not exist. @returns its gateway. */
export async function ensureNetwork(
  client: Dockerode,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<string | null> {
  const network = client.getNetwork(name);
  const found = await nullIfNotFound(() => network.inspect());
  if (found) assertOurs(`The network ${name}`, (found as Labelled).Labels, labels);
  if (!found)
    await ignoring(
      ['conflict'],
      async () =>
        void (await client.createNetwork({ Name: name, Driver: 'bridge', Labels: { ...labels } })),
    );
  const detail = (found ?? (await network.inspect())) as {
    IPAM?: { Config?: { Gateway?: string; Subnet?: string }[] };
  };
  return detail.IPAM?.Config?.[0]?.Gateway ?? null;
}
