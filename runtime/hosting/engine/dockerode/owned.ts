import type Dockerode from 'dockerode';
import { ignoring, pairs } from './calls.ts';
import { assertOurs } from '../errors.ts';

interface Labelled {
  readonly Labels?: Readonly<Record<string, string>> | null;
}

/**
 * Creates a volume. An engine answers this call with success when a volume of this name exists,
 * even if it belongs to another program, so the labels are checked afterwards.
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
  const options = { Name: name, Labels: { ...labels }, DriverOpts: { ...driverOptions } };
  await ignoring(['conflict'], async () => void (await client.createVolume(options)));
  const { Labels } = await client.getVolume(name).inspect();
  assertOurs(`The volume ${name}`, Labels, labels);
}

/** The networks of this name, the oldest first: Docker before 25 may have several. */
export type FindNetworks = (client: Dockerode, name: string) => Promise<readonly FoundNetwork[]>;

export interface FoundNetwork {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly gateway: string | null;
}

export interface NetworkDialect {
  readonly findNetworks: FindNetworks;
  /** Whether a container that has stopped starts only with the very network that it had before. */
  readonly bindsToNetworks: boolean;
  /** Options of a new network, so that containers of other networks do not reach it. */
  readonly networkOptions: Readonly<Record<string, string>>;
}

interface NetworkSpec {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly internal?: boolean;
  readonly driver?: 'bridge' | 'overlay';
}

/**
 * Creates a network if it does not exist. Docker before 25 makes a second one when two processes
 * create it at the same moment, and then starts no container of either, so there is one afterwards.
 *
 * @returns its gateway.
 */
export async function ensureNetwork(
  client: Dockerode,
  dialect: NetworkDialect,
  { name, labels, internal = false, driver = 'bridge' }: NetworkSpec,
): Promise<string | null> {
  const options = {
    Name: name,
    Driver: driver,
    Internal: internal,
    Attachable: driver === 'overlay',
    Labels: { ...labels },
    Options: { ...dialect.networkOptions },
  };
  let [kept, ...doubles] = await findOurs(client, dialect, name, labels);
  if (!kept) {
    await ignoring(['conflict'], async () => void (await client.createNetwork(options)));
    [kept, ...doubles] = await findOurs(client, dialect, name, labels);
  }
  for (let look = 1; kept; look += 1) {
    if (dialect.bindsToNetworks)
      await attachAgain(client, { name, labels }, { kept: kept.id, doubles });
    if (doubles.length === 0) break;
    // A container may have joined a double since: then all of them are looked at once more.
    const fine = look < LOOKS ? (['not_found', 'conflict'] as const) : (['not_found'] as const);
    for (const { id } of doubles)
      await ignoring(fine, async () => void (await client.getNetwork(id).remove()));
    [kept, ...doubles] = await findOurs(client, dialect, name, labels);
  }
  return kept?.gateway ?? null;
}

const LOOKS = 3;

/** @throws EngineError `foreign` when all networks of this name lack the labels. */
async function findOurs(
  client: Dockerode,
  { findNetworks }: NetworkDialect,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<readonly FoundNetwork[]> {
  const found = await findNetworks(client, name);
  const ours = found.filter((network) => hasLabels(network.labels, labels));
  if (found[0] && ours.length === 0) assertOurs(`The network ${name}`, found[0].labels, labels);
  return ours;
}

/**
 * Attaches the containers that have another network of this name, or one that is gone, to the one
 * that is kept.
 */
async function attachAgain(
  client: Dockerode,
  { name, labels }: NetworkSpec,
  { kept, doubles }: { readonly kept: string; readonly doubles: readonly FoundNetwork[] },
): Promise<void> {
  const containers = await client.listContainers({ all: true, filters: { label: pairs(labels) } });
  for (const { Id: Container, NetworkSettings } of containers) {
    const had = NetworkSettings?.Networks[name]?.NetworkID;
    if (!had || had === kept) continue;
    const { Networks } = (await client.getContainer(Container).inspect()).NetworkSettings;
    // A network that is gone is left through one of the same name.
    const left = doubles.some(({ id }) => id === had) ? had : kept;
    await client.getNetwork(left).disconnect({ Container, Force: true });
    const EndpointConfig = { Aliases: Networks[name]?.Aliases ?? [] };
    await client.getNetwork(kept).connect({ Container, EndpointConfig });
  }
}

/** Removes a network of ours. */
export async function removeNetwork(
  client: Dockerode,
  dialect: NetworkDialect,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { id } of await findOurs(client, dialect, name, labels))
    await client.getNetwork(id).remove();
}

const hasLabels = (
  found: Readonly<Record<string, string>> | null | undefined,
  labels: Readonly<Record<string, string>>,
) => Object.entries(labels).every(([key, value]) => found?.[key] === value);

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
  const hasAll = ({ Labels: found }: Labelled) => hasLabels(found, labels);
  const networks = (await client.listNetworks({ filters })) as (Labelled & { Id: string })[];
  for (const { Id } of networks.filter(hasAll)) await client.getNetwork(Id).remove();
  const { Volumes } = (await client.listVolumes({ filters } as never)) as unknown as {
    Volumes?: (Labelled & { Name: string })[];
  };
  for (const { Name } of (Volumes ?? []).filter(hasAll)) await client.getVolume(Name).remove();
}
