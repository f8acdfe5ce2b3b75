import { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { asDenied, classifyText, EngineError, toEngineError } from '../errors.ts';
import type { EngineImage, ImageStore, RegistryLogin } from '../images.ts';
import { createBuilder } from '../builder.ts';
import { buildImage } from './build.ts';
import { trimCache, prune } from './build-cache.ts';
import { call, ignoring, nullIfNotFound, retryOnRace } from './calls.ts';
import { type FoundEngine, registryAuth } from './client.ts';
import type { Dialect } from './dialect.ts';
import { readProgress } from './progress.ts';

/** The images of an engine that builds images itself, on its own machine. */
export function createImageStore({ client, version }: FoundEngine, dialect: Dialect): ImageStore {
  return {
    pull: (reference, signal, login) => pull(client, reference, { signal, login }).catch(denied),
    push: (reference, signal, login) => push(client, reference, { signal, login }).catch(denied),
    signIn: (login, signal) =>
      call(async () => {
        const abortSignal = signal as never;
        await client.checkAuth({ ...registryAuth(login), abortSignal } as never);
      }),
    find: (reference) =>
      nullIfNotFound(async () => toImage(await client.getImage(reference).inspect())),
    tag: (imageId, reference) =>
      call(async () => void (await client.getImage(imageId).tag(splitReference(reference)))),
    untag: (reference) =>
      ignoring(['not_found'], async () => void (await client.getImage(reference).remove())),
    save: (imageId) => save(client, imageId),
    load: (archive) => call(() => load(client, archive)),
    tags: (prefix) =>
      call(async () =>
        (await retryOnRace(() => client.listImages()))
          .flatMap((image) => image.RepoTags ?? [])
          .filter((tag) => tag.startsWith(prefix)),
      ),
    builder: async () => createBuilder(dialect.builder, version.Version),
    build: (context, options) => call(() => buildImage(client, dialect, { context, options })),
    trimCache: (options) => call(() => trimCache(client, dialect, options)),
    prune: (options) => call(() => prune(client, dialect, options)),
  };
}

function denied(error: unknown): never {
  throw asDenied(toEngineError(error));
}

async function pull(
  client: Dockerode,
  reference: string,
  { signal, login }: Transfer,
): Promise<void> {
  const stream = await client.pull(withTag(reference), {
    abortSignal: signal,
    ...(login && { authconfig: registryAuth(login) }),
  } as object);
  await untilMoved(stream as unknown as Readable, 'not_found');
}

interface Transfer {
  readonly signal: AbortSignal;
  readonly login: RegistryLogin | undefined;
}

async function push(
  client: Dockerode,
  reference: string,
  { signal, login }: Transfer,
): Promise<string> {
  const { repo, tag } = splitReference(reference);
  const image = client.getImage(repo);
  // Docker demands a login in every push, also for a registry that wants none.
  const authconfig = login ? registryAuth(login) : { username: '', password: '' };
  const options = { tag, authconfig, abortSignal: signal } as Dockerode.ImagePushOptions;
  await untilMoved((await image.push(options)) as unknown as Readable, 'failed');
  const { RepoDigests } = await client.getImage(reference).inspect();
  const pushed = RepoDigests?.find((digest) => digest.startsWith(`${repo}@`));
  if (pushed) return pushed.slice(repo.length + 1);
  throw new EngineError('failed', `The engine does not say by which digest ${reference} is kept`);
}

/** Reads what a pull or a push reports. @throws EngineError for a failure in it. */
async function untilMoved(stream: Readable, kind: 'not_found' | 'failed'): Promise<void> {
  for await (const { error } of readProgress(stream))
    if (error) throw new EngineError(classifyText(error) === 'disk' ? 'disk' : kind, error);
}

async function* save(client: Dockerode, imageId: string): AsyncGenerator<Buffer> {
  const archive = await call(async () => (await client.getImage(imageId).get()) as Readable);
  try {
    for await (const chunk of archive) yield chunk as Buffer;
  } finally {
    archive.destroy();
  }
}

async function load(client: Dockerode, archive: AsyncIterable<Buffer>): Promise<void> {
  const body = Readable.from(archive, { objectMode: false });
  let failed: Error | undefined;
  body.on('error', (error) => (failed = error));
  try {
    const answer = (await client.loadImage(body)) as unknown as Readable;
    for await (const { error } of readProgress(answer))
      if (error) throw new EngineError(classifyText(error) === 'disk' ? 'disk' : 'failed', error);
  } catch (error) {
    // The failure of the source says more than that of the call that it has cut.
    throw failed ?? error;
  } finally {
    body.destroy();
  }
}

function toImage(image: Dockerode.ImageInspectInfo): EngineImage {
  const exposed = Object.keys(image.Config?.ExposedPorts ?? {}).filter((port) =>
    port.endsWith('/tcp'),
  );
  return {
    id: withAlgorithm(image.Id),
    tags: image.RepoTags ?? [],
    digests: image.RepoDigests ?? [],
    ports: exposed.map((port) => Number.parseInt(port, 10)),
    labels: image.Config?.Labels ?? {},
    triggers: (image.Config?.OnBuild as string[] | null) ?? [],
    size: image.Size,
  };
}

/** Podman omits the name of the algorithm. */
export const withAlgorithm = (id: string) => (id.includes(':') ? id : `sha256:${id}`);

/** Without a tag, the engine would pull all tags of the repository. */
function withTag(reference: string): string {
  return reference.includes('@') || /:[^/]+$/.test(reference) ? reference : `${reference}:latest`;
}

function splitReference(reference: string): { repo: string; tag: string } {
  const at = reference.lastIndexOf(':');
  return { repo: reference.slice(0, at), tag: reference.slice(at + 1) };
}
