import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { classifyText, EngineError } from '../errors.ts';
import type { BuildContext, BuildOptions } from '../images.ts';
import { openBuildSession } from './buildkit-session.ts';
import type { Dialect } from './dialect.ts';
import { readProgress } from './progress.ts';

interface Build {
  readonly context: BuildContext;
  readonly options: BuildOptions;
}

/** Builds with the engine's own builder. @returns the image's id. */
export async function buildImage(
  client: Dockerode,
  dialect: Dialect,
  build: Build,
): Promise<string> {
  return build.options.buildkit
    ? buildWithBuildKit(client, build)
    : buildWithStages(client, dialect, build);
}

async function buildWithBuildKit(client: Dockerode, { context, options }: Build): Promise<string> {
  const session = await openBuildSession(client, options.secrets);
  try {
    const stream = await start(client, context(), {
      ...queryOf(options),
      buildargs: { ...options.args, BUILDKIT_CACHE_MOUNT_NS: options.cacheNamespace },
      session: session.id,
      // As a number, because dockerode opens a session of its own for the text '2'.
      version: 2,
    });
    await follow(stream, options, () => {});
    return (await client.getImage(options.tag).inspect()).Id;
  } finally {
    session.close();
  }
}

/** Builds with Docker's older builder or Podman's, whose stages have to be kept as their cache. */
async function buildWithStages(
  client: Dockerode,
  dialect: Dialect,
  { context, options }: Build,
): Promise<string> {
  const { query, files, end } = await dialect.prepareBuild(options);
  const stages = createStageReader();
  try {
    const stream = await start(client, context(files), { ...queryOf(options), ...query });
    await follow(stream, options, (line) => stages.line(line));
    return (await client.getImage(options.tag).inspect()).Id;
  } finally {
    await end();
    // A stage that cannot be tagged now is tagged by the next build.
    const images = stages.images();
    await keepStages(client, { repository: options.cache, images }).catch(() => {});
  }
}

const queryOf = (options: BuildOptions) => ({
  t: options.tag,
  dockerfile: options.dockerfile,
  labels: { ...options.labels },
  target: options.target ?? undefined,
  buildargs: { ...options.args },
  nocache: options.fresh || undefined,
  memory: options.memory || undefined,
  memswap: options.memory || undefined,
  cpuperiod: options.cpus ? 100_000 : undefined,
  cpuquota: options.cpus ? Math.round(options.cpus * 100_000) : undefined,
  rm: true,
  forcerm: true,
  abortSignal: options.signal,
});

async function start(
  client: Dockerode,
  context: Readable,
  query: Readonly<Record<string, unknown>>,
): Promise<Readable> {
  const sent = query as unknown as Dockerode.ImageBuildOptions;
  return (await client.buildImage(context, sent)) as unknown as Readable;
}

async function follow(
  stream: Readable,
  { onLine }: BuildOptions,
  read: (line: string) => void,
): Promise<void> {
  for await (const { text, error } of readProgress(stream)) {
    read(text);
    if (text) onLine(text);
    if (error) throw new EngineError(classifyText(error) === 'disk' ? 'disk' : 'failed', error);
  }
}

/**
 * Reads a build's output and finds the last image of each stage. The classic builder and Podman
 * leave these images without a tag.
 */
export interface StageReader {
  line(text: string): void;
  /** Image ids, in the short form in which they were printed. */
  images(): readonly string[];
}

/** Docker prints `Step 1/7 : FROM a`, Podman `STEP 1/2: FROM a` or `[1/3] STEP 1/2: FROM a`. */
const FROM = /^(?:\[\d+\/\d+\] )?step \d+(?:\/\d+)? ?: FROM /i;
const IMAGE = /^-+> (?:Using cache )?([0-9a-f]{11,64})$/;

export function createStageReader(): StageReader {
  const found: string[] = [];
  let last: string | null = null;
  return {
    line(text) {
      for (const line of text.split('\n')) {
        if (FROM.test(line)) {
          if (last !== null) found.push(last);
          last = null;
        }
        last = IMAGE.exec(line.trim())?.[1] ?? last;
      }
    },
    images: () => [...new Set(last === null ? found : [...found, last])],
  };
}

/**
 * Tags the stages of a build in `repository`, so that they are kept as the app's build cache, and
 * removes the tags that earlier builds of the app set.
 */
export async function keepStages(
  client: Dockerode,
  { repository, images }: { readonly repository: string; readonly images: readonly string[] },
): Promise<void> {
  const kept = new Set<string>();
  for (const id of images) {
    const image = await client.getImage(id).inspect();
    const own = `${repository}:${image.Id.replace(/^sha256:/, '').slice(0, 12)}`;
    const others = (image.RepoTags ?? []).filter((tag) => tag !== own);
    if (others.length > 0) continue;
    kept.add(own);
    const [repo, tag] = [repository, own.slice(repository.length + 1)];
    await client.getImage(id).tag({ repo, tag });
  }
  for (const { RepoTags } of await client.listImages())
    for (const tag of RepoTags ?? [])
      if (tag.startsWith(`${repository}:`) && !kept.has(tag)) await client.getImage(tag).remove();
}
