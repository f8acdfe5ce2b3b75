import { AppError, failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { listContainers, volumeName } from '../host/containers.ts';
import type { PipedCommand } from '../engine/volume-files.ts';
import type { HostedApp } from '../records/app.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { hideSecrets } from '../records/view.ts';
import type { Description, Section } from './archive.ts';
import { openVolume } from './volumes.ts';

/** The files of the app's volumes, one volume after the other. */
export async function* volumeSections(core: Core, app: HostedApp): AsyncGenerator<Section> {
  for (const { name } of app.spec.volumes) {
    const files = await openVolume(core, volumeName(core, app, name));
    try {
      yield { kind: 'volume', name, entries: files.read() };
    } finally {
      await files.close();
    }
  }
}

/** The output of the app's dump command. */
export async function* dumpSection(
  core: Core,
  app: HostedApp,
  signal: AbortSignal,
): AsyncGenerator<Section> {
  const { dump } = backupRulesOf(app.spec.backup);
  const id = await runningContainer(core, app);
  const command = await core.connection.engine().pipe(id, dump ?? [], { signal });
  yield { kind: 'dump', chunks: wholeOutput(command, app) };
}

async function* wholeOutput(command: PipedCommand, app: HostedApp): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of command.output) {
    bytes += chunk.length;
    yield chunk;
  }
  await assertSucceeded(command, app, 'dump');
  if (bytes === 0) throw new AppError(502, 'DUMP_FAILED', 'backup.dump printed nothing');
}

/** @throws AppError 502 with the last line that the command printed as an error. */
export async function assertSucceeded(
  command: PipedCommand,
  app: HostedApp,
  name: 'dump' | 'restore',
): Promise<void> {
  const { exitCode, stderr } = await command.result();
  if (exitCode === 0) return;
  const last = hideSecrets(app, stderr.split('\n').at(-1) ?? '').slice(0, 500);
  throw new AppError(
    502,
    `${name.toUpperCase()}_FAILED`,
    `backup.${name} ended with exit code ${exitCode}${last ? `: ${last}` : ''}`,
  );
}

/** @throws AppError 409 when no container of the app runs. */
export async function runningContainer(core: Core, app: HostedApp): Promise<string> {
  const containers = await listContainers(core, app, app.deployment ?? -1);
  const running = containers.find(({ state }) => state === 'running');
  if (running) return running.id;
  throw failure.conflict('App is not running, and backup.dump is a command in the running app');
}

/** What the backup says of the app, so that it can be restored where the app does not exist. */
export async function describeApp(
  core: Core,
  app: HostedApp,
  { kind, seal }: { kind: 'volumes' | 'dump'; seal: (text: string) => string },
): Promise<Description> {
  const current =
    app.deployment === null ? null : await core.deployments.get(app.id, app.deployment);
  return {
    version: 1,
    kind,
    created_at: new Date(core.now()).toISOString(),
    app: app.name,
    volumes: kind === 'volumes' ? app.spec.volumes.map(({ name }) => name) : [],
    spec: app.spec,
    sealed: seal(JSON.stringify({ env: app.env, secrets: app.secrets, files: app.files ?? [] })),
    ...(current?.image_id && { imageId: current.image_id }),
    ...(current?.image && { image: current.image }),
  };
}
