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

/** A network that exists, or null. */
export type FindNetwork = (client: Dockerode, name: string) => Promise<FoundNetwork | null>;

export interface FoundNetwork {
  readonly labels: Readonly<Record<string, string>>;
  readonly gateway: string | null;
}

export interface NetworkDialect {
  readonly findNetwork?: FindNetwork;
  /** Options of a new network, so that containers of other networks do not reach it. */
  readonly networkOptions?: Readonly<Record<string, string>>;
}

const findByInspection: FindNetwork = (client, name) =>
  nullIfNotFound(async () => {
    const found = (await client.getNetwork(name).inspect()) as Labelled & {
      IPAM?: { Config?: { Gateway?: string }[] };
    };
    return { labels: found.Labels ?? {}, gateway: found.IPAM?.Config?.[0]?.Gateway ?? null };
  });

/** Creates a network if it does not exist. @returns its gateway. */
export async function ensureNetwork(
  client: Dockerode,
  { findNetwork = findByInspection, networkOptions = {} }: NetworkDialect,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<string | null> {
  const found = await findNetwork(client, name);
  if (found) {
    assertOurs(`The network ${name}`, found.labels, labels);
    return found.gateway;
  }
  await ignoring(
    ['conflict'],
    async () =>
      void (await client.createNetwork({
        ...{ Name: name, Driver: 'bridge', Labels: { ...labels } },
        Options: { ...networkOptions },
      })),
  );
  return (await findNetwork(client, name))?.gateway ?? null;
}

/** Removes a network of ours. */
export async function removeNetwork(
  client: Dockerode,
  { findNetwork = findByInspection }: NetworkDialect,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const found = await findNetwork(client, name);
  if (!found) return;
  assertOurs(`The network ${name}`, found.labels, labels);
  await client.getNetwork(name).remove();
}
