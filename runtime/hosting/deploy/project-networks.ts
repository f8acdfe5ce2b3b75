import type { Core } from '../core.ts';
import type { HostedApp } from '../records/app.ts';
import { instanceLabels, networksOf } from './containers.ts';

/** Creates the networks of an app's project where they do not exist. */
export async function ensureNetworks(core: Core, { spec }: HostedApp): Promise<void> {
  if (!spec.project) return;
  for (const name of networksOf(core.naming, spec))
    await core.connection.engine().ensureNetwork(name, instanceLabels(core.naming));
}

/**
 * Removes the networks of a deleted app that no other app uses: engines have a limited number of
 * them. One that is still in use is left, and used again by the next app of the project.
 */
export async function removeNetworks(core: Core, { id, spec }: HostedApp): Promise<void> {
  if (!spec.project) return;
  const others = core.apps.all().filter((app) => app.id !== id);
  const used = new Set(others.flatMap((app) => networksOf(core.naming, app.spec)));
  for (const name of networksOf(core.naming, spec).filter((each) => !used.has(each)))
    await core.connection
      .engine()
      .removeNetwork(name, instanceLabels(core.naming))
      .catch((error: Error) => core.log.debug(`the network ${name} is left: ${error.message}`));
}
