import { assertRoom } from '../host/core.ts';
import { AppError, failure } from '@twofold/runtime/errors';
import { createChecks } from '@twofold/runtime/http';
import { decrypt } from '../backups/cipher.ts';
import { emptyVolume, withVolume } from '../backups/volumes.ts';
import { imagePrefix, volumeName } from '../host/containers.ts';
import type { ArrivedApp, HostedApp } from '../records/app.ts';
import { newSpec, toSpecFields } from '../records/fields.ts';
import { assertAppName, assertEnv, toEnv } from '../records/names.ts';
import { toFiles } from '../records/process-fields.ts';
import { gitTokenKey, webhookKey } from '../records/settings-table.ts';
import { validator } from '../validator.ts';
import { createEntryCheck } from './check-entries.ts';
import { type MoveDescription, moveDescription } from './description.ts';
import { asRefused, refusedStream } from './failures.ts';
import { withOneTag } from './image-archive.ts';
import type { MoveParts } from './parts.ts';
import { type MovePart, openMove } from './stream.ts';

/** What an arrival calls when the app has its record, which has to be removed if it fails. */
type OnRecord = (app: HostedApp) => void;

interface Arriving {
  readonly key: Buffer;
  readonly arrival: ArrivedApp;
  readonly onRecord: OnRecord;
}

/**
 * Reads a move to its end: the app gets its record, its image and its volumes, and is started.
 * Everything is checked as a body of `POST /api/apps` is.
 *
 * @throws AppError when anything is wrong. The caller then removes the app.
 */
export async function receiveApp(
  parts: MoveParts,
  chunks: AsyncIterable<Buffer>,
  { key, arrival, onRecord }: Arriving,
): Promise<HostedApp> {
  const plain = whileThereIsRoom(parts, decrypt(chunks, key, { demanded: true }));
  const stream = await openMove(plain).catch(asRefused);
  try {
    const description = checked(stream.description);
    const app = await recordApp(parts, description, arrival);
    onRecord(app);
    parts.onStep('move-recorded');
    const imageId = await receiveParts(parts, app, stream.parts);
    await keepSecrets(parts, app, description);
    parts.onStep('move-received');
    await deploy(parts, app, { description, imageId });
    return app;
  } catch (error) {
    return asRefused(error);
  } finally {
    await stream.close().catch(() => {});
  }
}

const check = createChecks(validator).body(moveDescription);

/** A source of a later version may send what this server does not know. */
function checked(description: unknown): MoveDescription {
  try {
    return check(description) as MoveDescription;
  } catch (error) {
    const { from } = (description ?? {}) as { from?: unknown };
    const version = typeof from === 'string' ? ` (the source is version ${from.slice(0, 40)})` : '';
    throw refusedStream(`${(error as Error).message}${version}`);
  }
}

async function recordApp(
  parts: MoveParts,
  { app: fields, secrets, passwords }: MoveDescription,
  arrival: ArrivedApp,
): Promise<HostedApp> {
  const { targets } = parts;
  assertAppName(fields.name);
  await assertTarget(targets, fields.backup?.target);
  const spec = newSpec(fields.name, await toSpecFields(fields), parts.model);
  const env = toEnv(fields.env ?? {});
  assertEnv(secrets);
  const http = { ...spec.http, basic_auth: passwords ?? null };
  return parts.apps.insert({
    name: fields.name,
    env,
    secrets,
    files: toFiles(fields.files ?? []),
    spec: { ...spec, ...(passwords && { http }), arrival },
  });
}

/** @throws AppError 422 when this server has no place for backups with the name. */
export const assertTarget = (targets: MoveParts['targets'], name: string | undefined) =>
  targets.assertKnown(name).catch(refuseTarget);

/** Both servers have targets, so the error says which of them lacks one. */
function refuseTarget(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  throw refusedStream(`${error.message} at the new server, then move again`);
}

/** @returns the id of the image on this engine; null when the app has none. */
async function receiveParts(
  parts: MoveParts,
  app: HostedApp,
  sections: AsyncIterable<MovePart>,
): Promise<string | null> {
  let imageId: string | null = null;
  for await (const part of sections) {
    if (part.kind === 'image') {
      if (imageId !== null) throw refusedStream('it has two images');
      imageId = await loadImage(parts, app, part.chunks);
      parts.onStep('move-image');
    } else await writeVolume(parts, app, part);
  }
  return imageId;
}

async function loadImage(
  parts: MoveParts,
  app: HostedApp,
  chunks: AsyncIterable<Buffer>,
): Promise<string> {
  const { images } = parts.connection.engine();
  const tag = `${imagePrefix(parts, app)}move`;
  await images.load(withOneTag(chunks, tag));
  const image = await images.find(tag);
  if (image) return image.id;
  throw refusedStream('its image cannot be loaded');
}

async function writeVolume(
  parts: MoveParts,
  app: HostedApp,
  { kind, volume, entries }: Exclude<MovePart, { kind: 'image' }>,
): Promise<void> {
  if (!app.spec.volumes.some(({ name }) => name === volume))
    throw refusedStream(`the app has no volume ${JSON.stringify(volume.slice(0, 100))}`);
  const full =
    kind === 'changes' ? volumeName(parts, app, volume) : await emptyVolume(parts, app, volume);
  await withVolume(parts, full, (files) => files.write(createEntryCheck()(entries)));
  parts.onStep(kind === 'copy' ? 'move-volume' : 'move-last');
}

async function keepSecrets(
  parts: MoveParts,
  app: HostedApp,
  { gitToken, webhookSecret, deployKey, certificates: pairs = [] }: MoveDescription,
): Promise<void> {
  const { vault, certificates } = parts;
  if (gitToken) await vault.set(gitTokenKey(app.id), gitToken);
  if (webhookSecret) await vault.set(webhookKey(app.id), webhookSecret);
  if (deployKey) await parts.deployKeys.put(app.id, deployKey);
  const hosts = app.spec.worker ? [] : [app.spec.domain, ...app.spec.aliases];
  for (const { own, ...pair } of pairs)
    // One that has expired meanwhile is no reason to refuse the app.
    await certificates.put(hosts, pair, own).catch((error: Error) => {
      parts.log.warn(`${app.name}: a certificate was not taken over: ${error.message}`);
    });
}

/** Starts the app and waits until it is ready; an app that was stopped is only made ready to start. */
async function deploy(
  parts: MoveParts,
  app: HostedApp,
  { description, imageId }: { description: MoveDescription; imageId: string | null },
): Promise<void> {
  const { deployer } = parts;
  const { deployed } = description;
  if (!deployed) return;
  if (imageId === null) throw refusedStream('it has no image');
  const { done } = await deployer.begin(parts.apps.byId(app.id) ?? app, {
    trigger: 'move',
    source: deployed.source,
    prepare: async () => ({ image: deployed.image, id: imageId }),
    ...(!deployed.running && { instead: async () => {} }),
  });
  await done;
}

/** Bytes after which the disk is looked at. */
const LOOK_EVERY = 64 * 1024 * 1024;

async function* whileThereIsRoom(
  parts: MoveParts,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let since = LOOK_EVERY;
  for await (const chunk of chunks) {
    since += chunk.length;
    if (since >= LOOK_EVERY) {
      since = 0;
      await assertRoom(parts, 'for this app');
    }
    yield chunk;
  }
}

/** @throws AppError 400 */
export function readKey(text: string): Buffer {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text))
    throw failure.badRequest('X-Move-Key must be 32 bytes in base64');
  return Buffer.from(text, 'base64');
}
