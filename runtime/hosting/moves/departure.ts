import { startInOperation, stopContainers } from '../deploy/lifecycle.ts';
import { volumeName } from '../host/containers.ts';
import { idleRoute } from '../deploy/rollout.ts';
import { openVolume } from '../backups/volumes.ts';
import { encrypt } from '../backups/cipher.ts';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Deployment, HostedApp } from '../records/app.ts';
import { assertMovable, describeMove } from './describe.ts';
import { createDifferences, type Differences } from './differences.ts';
import type { Core } from '../host/core.ts';
import type { MoveParts } from './parts.ts';
import { type MovePart, writeMove } from './stream.ts';

/** `stopped`: the stream is complete, and the app is stopped until the target has it. */
export type DepartureState = 'copying' | 'stopped' | 'committing' | 'ended';

/** A move away from this server, from the first byte of its stream to its end. */
export interface Departure {
  readonly move: string;
  readonly key: Buffer;
  readonly to: string;
  readonly appId: string;
  state: DepartureState;
  /** When the caller was last heard. */
  heard: number;
  /** Set while the app is stopped. */
  held: HeldApp | null;
}

/**
 * The app as an encrypted stream: its description, its image and its volumes while it runs. Then it
 * is stopped, and what has changed follows. When the stream is cut, the app runs again.
 */
export async function* streamDeparture(
  parts: MoveParts,
  departure: Departure,
): AsyncGenerator<Buffer> {
  const app = currentApp(parts, departure);
  const current = await deploymentOf(parts, app);
  const description = await describeMove(parts, app, current);
  const plain = writeMove(description, sectionsOf(parts, departure, { app, current }));
  try {
    for await (const chunk of encrypt(plain, departure.key)) {
      assertGoesOn(departure);
      yield chunk;
    }
    assertGoesOn(departure);
    departure.state = 'stopped';
  } finally {
    if (departure.state === 'copying') await endDeparture(parts, departure);
  }
}

function assertGoesOn({ state, held }: Departure): void {
  if (state !== 'copying' || held?.signal.aborted)
    throw new AppError(409, 'CANCELLED', 'The move was cancelled');
}

interface MovedVersion {
  readonly app: HostedApp;
  readonly current: Deployment | null;
}

async function* sectionsOf(
  parts: MoveParts,
  departure: Departure,
  { app, current }: MovedVersion,
): AsyncGenerator<MovePart> {
  if (current?.image_id)
    yield { kind: 'image', chunks: parts.connection.engine().images.save(current.image_id) };
  const copies = new Map<string, Differences>();
  try {
    if (app.desired === 'running') yield* copySections(parts, app, copies);
    departure.held = await stopApp(parts, app);
    parts.onStep('move-stopped');
    yield* lastSections(parts, app, copies);
  } finally {
    for (const differences of copies.values()) await differences.remove();
  }
}

/** The volumes while the app writes into them. What fails here is copied when it is stopped. */
async function* copySections(
  parts: MoveParts,
  app: HostedApp,
  copies: Map<string, Differences>,
): AsyncGenerator<MovePart> {
  for (const volume of await volumesOf(parts, app)) {
    const differences = await createDifferences();
    copies.set(volume, differences);
    const files = await openVolume(parts, volumeName(parts, app, volume));
    try {
      yield { kind: 'copy', volume, entries: untilFailed(differences.copying(files.read())) };
      parts.onStep('move-copied');
    } finally {
      await files.close();
    }
  }
}

/** Engines give up on a volume when one of its files changes at the wrong moment. */
async function* untilFailed<T>(entries: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* entries;
  } catch (error) {
    if (error instanceof AppError) throw error;
  }
}

async function* lastSections(
  parts: MoveParts,
  app: HostedApp,
  copies: ReadonlyMap<string, Differences>,
): AsyncGenerator<MovePart> {
  for (const volume of await volumesOf(parts, app)) {
    const files = await openVolume(parts, volumeName(parts, app, volume));
    try {
      const differences = copies.get(volume);
      const kind = differences ? await differences.compare(files.read()) : 'whole';
      if (kind === 'whole') yield { kind, volume, entries: files.read() };
      if (kind === 'changes' && differences)
        yield { kind, volume, entries: differences.changed(files.read()) };
    } finally {
      await files.close();
    }
  }
}

/** Those that exist: the volumes of an app that was never deployed do not. */
export async function volumesOf(parts: Core, app: HostedApp) {
  const engine = parts.connection.engine();
  const found: string[] = [];
  for (const { name } of app.spec.volumes)
    if (await engine.volumeLabels(volumeName(parts, app, name))) found.push(name);
  return found;
}

/**
 * Stops the app, and keeps other operations away from it. It should still be running, so a server
 * that is killed meanwhile starts it again.
 */
async function stopApp(parts: MoveParts, before: HostedApp): Promise<HeldApp> {
  const held = await holdApp(parts, before.id);
  try {
    const app = parts.apps.byId(before.id);
    if (!app || app.deployment !== before.deployment || contentOf(app) !== contentOf(before))
      throw failure.conflict('The app was changed while it was copied: move it again');
    if (app.desired === 'stopped') return held;
    await parts.apps.update(app.id, { status: 'stopped' });
    parts.ingress.set(idleRoute(app, 'holding'));
    await Promise.all([stopContainers(parts, app), parts.runs.stopAll(app.id)]);
    return held;
  } catch (error) {
    await startAgain(parts, before.id);
    await held.leave();
    throw error;
  }
}

const contentOf = ({ spec, env, secrets, files, desired }: HostedApp) =>
  JSON.stringify([spec, env, secrets, files, desired]);

/** Ends a move that has not succeeded: the app serves here as before. */
export async function endDeparture(parts: MoveParts, departure: Departure): Promise<void> {
  const { held } = departure;
  departure.state = 'ended';
  departure.held = null;
  if (!held) return;
  try {
    // A server that stops starts the app when it starts again.
    if (!held.signal.aborted) await startAgain(parts, departure.appId);
  } finally {
    await held.leave();
  }
}

/** Starts the app if it should run. The caller holds the app. */
export async function startAgain(core: Core, appId: string): Promise<void> {
  const app = core.apps.byId(appId);
  if (app?.desired !== 'running' || app.status === 'running') return;
  await startInOperation(core, appId, new AbortController().signal).catch((error: Error) =>
    core.log.error(`${app.name} does not start after its move was cut: ${error.message}`),
  );
}

/** @throws AppError 404, 409 */
export function currentApp(parts: MoveParts, { appId }: Pick<Departure, 'appId'>): HostedApp {
  const app = parts.apps.byId(appId);
  if (!app) throw failure.notFound('App not found');
  assertMovable(app);
  return app;
}

export const deploymentOf = async (parts: MoveParts, app: HostedApp) =>
  app.deployment === null ? null : parts.deployments.get(app.id, app.deployment);

/** An operation of an app that lasts until `leave` is called. */
export interface HeldApp {
  /** Aborts when the app is deleted or the server stops. */
  readonly signal: AbortSignal;
  leave(): Promise<void>;
}

/** Keeps every other operation away from the app. @throws AppError 409 while another one runs. */
export function holdApp(core: Core, appId: string): Promise<HeldApp> {
  return new Promise((resolve, reject) => {
    const done: Promise<void> = core.operations.run(
      appId,
      'move',
      (signal) =>
        new Promise<void>((end) => {
          // Whoever deletes the app, or stops the server, waits for the end of this operation.
          signal.addEventListener('abort', () => end());
          const leave = async () => {
            end();
            await done.catch(() => {});
          };
          queueMicrotask(() => resolve({ signal, leave }));
        }),
    );
    done.catch(reject);
  });
}
