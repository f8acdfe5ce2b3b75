import type Dockerode from 'dockerode';
import { ignoring, nullIfNotFound, pairs } from './calls.ts';
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
  {
    labels,
    driverOptions,
  }: {
    readonly labels: Readonly<Record<string, string>>;
    readonly driverOptions: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const found = await nullIfNotFound(() => client.getVolume(name).inspect());
  if (found) return assertOurs(`The volume ${name}`, found.Labels, labels);
  await client.createVolume({
    ...{ Name: name, Labels: { ...labels }, DriverOpts: { ...driverOptions } },
  });
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
  {
    name,
    labels,
    internal = false,
  }: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly internal?: boolean;
  },
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
        ...{ Name: name, Driver: 'bridge', Internal: internal, Labels: { ...labels } },
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

/**
 * Removes what tasks have left. Its containers must be removed before. Podman's filter finds what
 * has one of the labels, and deleting that would delete the volumes of apps, so the labels are
 * compared here.
 */
export async function removeLabelled(
  client: Dockerode,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const filters = { label: pairs(labels) };
  const hasAll = ({ Labels: found }: Labelled) =>
    Object.entries(labels).every(([key, value]) => found?.[key] === value);
  const networks = (await client.listNetworks({ filters })) as (Labelled & { Id: string })[];
  for (const { Id } of networks.filter(hasAll)) await client.getNetwork(Id).remove();
  const { Volumes } = (await client.listVolumes({ filters } as never)) as unknown as {
    Volumes?: (Labelled & { Name: string })[];
  };
  for (const { Name } of (Volumes ?? []).filter(hasAll)) await client.getVolume(Name).remove();
}
