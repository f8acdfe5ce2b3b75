import type { Core } from '../host/core.ts';
import type { HostedApp } from '../records/app.ts';
import { asDeployed } from '../records/deployed.ts';
import { instanceLabels, networksOf } from '../host/containers.ts';

/** Creates the networks of an app where they do not exist. */
export async function ensureNetworks(core: Core, { spec }: Pick<HostedApp, 'spec'>): Promise<void> {
  for (const name of networksOf(core, spec))
    await core.connection.engine().ensureNetwork(name, instanceLabels(core));
}

/** Repairs the networks of all containers, so that what has lost its network is started again. */
export async function repairNetworks(core: Core): Promise<void> {
  const names = core.apps.all().flatMap((app) => networksOf(core, asDeployed(app).spec));
  for (const name of new Set(names))
    await core.connection
      .engine()
      .ensureNetwork(name, instanceLabels(core))
      .catch((error: Error) => core.log.warn(`the network ${name}: ${error.message}`));
}

/**
 * Removes the networks of a deleted app that no other app uses: engines have a limited number of
 * them. One that is still in use is left, and used again by the next app of the project.
 */
export async function removeNetworks(core: Core, { id, spec }: HostedApp): Promise<void> {
  if (!spec.project) return;
  const isWanted = (name: string) =>
    core.apps.all().some((app) => app.id !== id && networksOfBoth(core, app).includes(name));
  for (const name of networksOf(core, spec))
    await core.connection
      .engine()
      .removeNetwork(name, instanceLabels(core), () => isWanted(name))
      .catch((error: Error) => core.log.debug(`the network ${name} is left: ${error.message}`));
}

/** The networks of an app's containers, and those of its next deployment. */
const networksOfBoth = (core: Core, app: HostedApp): string[] =>
  [app, asDeployed(app)].flatMap(({ spec }) => networksOf(core, spec));
