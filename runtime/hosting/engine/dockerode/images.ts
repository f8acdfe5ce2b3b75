import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { asDenied, classifyText, EngineError, toEngineError } from '../errors.ts';
import type { BuildOptions, EngineImage, ImageStore, RegistryLogin } from '../images.ts';
import { call, ignoring, nullIfNotFound } from './calls.ts';
import type { Dialect } from './dialect.ts';
import { registryAuth } from './registry-auth.ts';
import { readProgress } from './progress.ts';
import { prune } from './prune.ts';
import { retryOnRace } from './retry-on-race.ts';
import { createStageReader, keepStages } from './stages.ts';

/** The images of an engine that builds images itself, on its own machine. */
export function createImageStore(client: Dockerode, dialect: Dialect): ImageStore {
  return {
    async pull(reference, signal, login) {
      try {
        await pull(client, reference, { signal, login });
      } catch (error) {
        throw asDenied(toEngineError(error));
      }
    },
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
    tags: (prefix) =>
      call(async () =>
        (await retryOnRace(() => client.listImages()))
          .flatMap((image) => image.RepoTags ?? [])
          .filter((tag) => tag.startsWith(prefix)),
      ),
    build: (context, options) => call(() => build(client, dialect, context(), options)),
    prune: (options) => call(() => prune(client, dialect, options)),
  };
}

async function pull(
  client: Dockerode,
  reference: string,
  { signal, login }: { readonly signal: AbortSignal; readonly login: RegistryLogin | undefined },
): Promise<void> {
  const stream = (await client.pull(withTag(reference), {
    abortSignal: signal,
    ...(login && { authconfig: registryAuth(login) }),
  } as object)) as unknown as Readable;
  for await (const message of readProgress(stream)) {
    if (message.error)
      throw new EngineError(
        classifyText(message.error) === 'disk' ? 'disk' : 'not_found',
        message.error,
      );
  }
}

async function build(
  client: Dockerode,
  dialect: Dialect,
  context: Readable,
  options: BuildOptions,
): Promise<string> {
  const stream = (await client.buildImage(context, {
    t: options.tag,
    dockerfile: options.dockerfile,
    labels: { ...options.labels },
    memory: options.memory || undefined,
    memswap: options.memory || undefined,
    cpuperiod: options.cpus ? 100_000 : undefined,
    cpuquota: options.cpus ? Math.round(options.cpus * 100_000) : undefined,
    rm: true,
    forcerm: true,
    ...dialect.buildQuery,
    abortSignal: options.signal,
  } as unknown as Dockerode.ImageBuildOptions)) as unknown as Readable;
  const stages = createStageReader();
  try {
    for await (const message of readProgress(stream)) {
      stages.line(message.text);
      if (message.text) options.onLine(message.text);
      if (message.error)
        throw new EngineError(
          classifyText(message.error) === 'disk' ? 'disk' : 'failed',
          message.error,
        );
    }
    return (await client.getImage(options.tag).inspect()).Id;
  } finally {
    // A stage that cannot be tagged now is tagged by the next build.
    const images = stages.images();
    await keepStages(client, { repository: options.cache, images }).catch(() => {});
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
