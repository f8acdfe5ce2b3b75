import { failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { instanceLabels, LABELS, volumeName } from '../host/containers.ts';
import { assertOurs } from '../engine/errors.ts';
import type { VolumeFiles } from '../engine/volume-files.ts';
import type { HostedApp } from '../records/app.ts';

/** Labels on everything that a backup or a drill makes on an engine. A server removes it at its start. */
export const taskLabels = (core: Pick<Core, 'naming'>) => ({
  ...instanceLabels(core),
  [LABELS.task]: 'backup',
});

/**
 * Opens the files of a volume for the time of `work`.
 *
 * @throws AppError 409 when it does not exist: an engine would create an empty one.
 */
export async function withVolume<T>(
  core: Core,
  volume: string,
  work: (files: VolumeFiles) => Promise<T>,
): Promise<T> {
  const files = await openVolume(core, volume);
  try {
    return await work(files);
  } finally {
    await files.close();
  }
}

/** The same for a generator, which has no single piece of work. */
export async function openVolume(core: Core, volume: string): Promise<VolumeFiles> {
  const engine = core.connection.engine();
  const labels = await engine.volumeLabels(volume);
  if (!labels) throw failure.conflict(`The volume ${volume} does not exist`);
  assertOurs(`The volume ${volume}`, labels, instanceLabels(core));
  return engine.openVolume(volume, taskLabels(core));
}

/** Replaces a volume by an empty one. No container may use it. */
export async function emptyVolume(
  core: Core,
  app: HostedApp,
  name: string,
  options = { filled: true },
): Promise<string> {
  const engine = core.connection.engine();
  const volume = volumeName(core, app, name);
  const labels = await engine.volumeLabels(volume);
  if (labels) assertOurs(`The volume ${volume}`, labels, instanceLabels(core));
  await engine.removeVolume(volume);
  await engine.ensureVolume(volume, instanceLabels(core), options);
  return volume;
}
