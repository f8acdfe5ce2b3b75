import { AppError, failure } from '@twofold/runtime/errors';
import { type Core, placement } from '../host/core.ts';
import { containerSpec } from '../host/containers.ts';
import { startReplica } from '../deploy/replicas.ts';
import type { HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup-repository.ts';
import { asDeployed } from '../records/deployed.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { damaged } from './failures.ts';
import { createListComparison, type ListComparison } from './file-list.ts';
import { assertSucceeded } from './sections.ts';
import { type BackupParts, type BackupWork, checkBackup, messageOf, openBackup } from './stored.ts';
import { taskLabels, withVolume } from './volumes.ts';

/**
 * Restores a backup into a throwaway copy of its app, starts the copy and probes it. The result is
 * in the backup's record: `verified_at`, or `error`.
 */
export async function drill(
  parts: BackupParts,
  app: HostedApp,
  { backup, signal }: BackupWork,
): Promise<void> {
  const { repository } = parts;
  try {
    await rehearse(parts, app, { backup, signal });
    const verified_at = new Date(parts.now()).toISOString();
    await repository.update(backup.id, { verified_at, error: null });
  } catch (error) {
    if (!signal.aborted) await repository.update(backup.id, { error: messageOf(error) });
    throw error;
  }
}

async function rehearse(
  parts: BackupParts,
  app: HostedApp,
  { backup, signal }: BackupWork,
): Promise<void> {
  const description = await checkBackup(parts, backup);
  const copy = await createCopy(parts, asDeployed(app), backup.id);
  const comparison = await createListComparison();
  try {
    if (description.kind === 'dump') await readDump(parts, copy, { backup, signal });
    else {
      await readVolumes(parts, copy, { backup, comparison });
      const difference = comparison.difference();
      if (difference !== null) throw damaged(difference);
      await copy.start(signal);
    }
  } finally {
    await comparison.remove();
    await copy.remove();
  }
}

/** Restores the volumes, then reads them again to compare them with the list in the backup. */
async function readVolumes(
  parts: BackupParts,
  copy: Copy,
  { backup, comparison }: { readonly backup: StoredBackup; readonly comparison: ListComparison },
): Promise<void> {
  const { parts: sections } = await openBackup(parts, backup);
  const restored: { name: string; volume: string }[] = [];
  for await (const section of sections) {
    if (section.kind === 'list') await comparison.expect(section.chunks);
    if (section.kind !== 'volume') continue;
    const volume = await copy.volume(section.name);
    await withVolume(parts, volume, (files) => files.write(section.entries));
    restored.push({ name: section.name, volume });
  }
  for (const { name, volume } of restored)
    await withVolume(parts, volume, (files) => comparison.find(`volumes/${name}`, files.read()));
}

async function readDump(
  parts: BackupParts,
  copy: Copy,
  { backup, signal }: BackupWork,
): Promise<void> {
  const id = await copy.start(signal);
  const { restore } = backupRulesOf(copy.app.spec.backup);
  if (restore === null)
    throw failure.conflict('The backup is a dump, and the app has no backup.restore');
  const { parts: sections } = await openBackup(parts, backup);
  for await (const section of sections) {
    if (section.kind !== 'dump') continue;
    const engine = parts.connection.engine();
    const command = await engine.pipe(id, restore, { input: section.chunks, signal });
    for await (const _chunk of command.output);
    await assertSucceeded(command, copy.app, 'restore');
  }
}

/** A copy of an app with volumes of its own, in a network in which there is nothing else. */
interface Copy {
  readonly app: HostedApp;
  /** Creates the copy's volume of this name if it does not exist. @returns its full name. */
  volume(name: string): Promise<string>;
  /** @returns the container's id. @throws AppError when it does not become ready. */
  start(signal: AbortSignal): Promise<string>;
  remove(): Promise<void>;
}

async function createCopy(core: Core, app: HostedApp, id: string): Promise<Copy> {
  const deployment = await core.deployments.serving(app);
  const engine = core.connection.engine();
  const labels = taskLabels(core);
  const network = `twofold-${core.naming.instance}-drill-${id}`;
  const volumeOf = (name: string) => `${network}-${name}`;
  let container: string | undefined;
  const volume = async (name: string, filled = true) => {
    await engine.ensureVolume(volumeOf(name), labels, { filled });
    return volumeOf(name);
  };
  return {
    app,
    volume,
    async start(signal) {
      for (const { name } of app.spec.volumes) await volume(name, false);
      await engine.ensureNetwork(network, labels, { internal: true });
      const place = placement(core);
      const spec = containerSpec({ app, deployment, replica: 0, attempt: id }, place);
      container = await engine.create({
        ...spec,
        name: network,
        labels,
        network,
        networks: [],
        aliases: [],
        publish: false,
        local: true,
        volumes: app.spec.volumes.map(({ name, path }) => ({ volume: volumeOf(name), path })),
      });
      // No port leads into its network from a server that does not reach containers by address:
      // there it must run for a while, as a worker.
      const port = place.reach === 'address' ? deployment.port : null;
      const { ready, reason } = await startReplica(core, app, { id: container, port, signal });
      if (ready) return container;
      throw new AppError(502, 'NOT_READY', `The restored copy did not become ready: ${reason}`);
    },
    async remove() {
      if (container !== undefined) await engine.remove(container);
      await engine.removeNetwork(network, labels);
      for (const { name } of app.spec.volumes) await engine.removeVolume(volumeOf(name));
    },
  };
}
