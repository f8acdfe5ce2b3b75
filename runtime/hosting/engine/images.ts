import type { Readable } from 'node:stream';
import type { Builder } from './builder.ts';

/** A local image. `id` is derived from its content; a tag can be moved to another image. */
export interface EngineImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** The TCP ports that the image exposes. */
  readonly ports: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
  /** The ONBUILD instructions, which run in builds based on it. Podman does not report them. */
  readonly triggers: readonly string[];
  /** Bytes. */
  readonly size: number;
}

export interface BuildOptions {
  readonly tag: string;
  /** The repository in which the build's stages are tagged, as the cache of the next build. */
  readonly cache: string;
  readonly dockerfile: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes. 0 means no limit. */
  readonly memory: number;
  readonly cpus: number;
  /** The stage to build. Null means the last one. */
  readonly target: string | null;
  readonly args: Readonly<Record<string, string>>;
  /** What `RUN --mount=type=secret` can read, by its id. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Whether to use BuildKit. */
  readonly buildkit: boolean;
  /** Whether to build without the cache of earlier builds. */
  readonly fresh: boolean;
  /** Separates the caches of `RUN --mount=type=cache` from those of other apps. */
  readonly cacheNamespace: string;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** The user of one registry. */
export interface RegistryLogin {
  /** With its port, or `docker.io`. */
  readonly host: string;
  readonly username: string;
  readonly password: string;
  /** A token that some registries issue instead of a password. */
  readonly identityToken?: string;
}
/**
 * The tar stream of a build. `files` are added to it, by their names: what the engine itself needs.
 */
export type BuildContext = (files?: Readonly<Record<string, string>>) => Readable;

export interface Pruned {
  readonly images: number;
  /** Bytes. */
  readonly reclaimed: number;
}

/**
 * The images of an engine, and how they are built. This is separate from `Engine`, because an
 * engine that runs containers on other machines may pull its images from a registry and build them
 * elsewhere.
 */
export interface ImageStore {
  /** @throws EngineError `denied` when the registry refuses. It alone is sent the login. */
  pull(reference: string, signal: AbortSignal, login?: RegistryLogin): Promise<void>;
  /**
   * Pushes a tag to its registry. @returns the digest by which it can be pulled.
   * @throws EngineError `denied` when the registry refuses.
   */
  push(reference: string, signal: AbortSignal, login?: RegistryLogin): Promise<string>;
  /** Tries a login. @throws EngineError when the registry refuses it or does not answer. */
  signIn(login: RegistryLogin, signal: AbortSignal): Promise<void>;
  find(reference: string): Promise<EngineImage | null>;
  tag(imageId: string, reference: string): Promise<void>;
  /**
   * Removes a tag, and the image with its last tag. Does nothing when the tag does not exist.
   * @throws EngineError `conflict` while a container uses the image.
   */
  untag(reference: string): Promise<void>;
  /** The image as an archive of `docker save`, without tags. */
  save(imageId: string): AsyncGenerator<Buffer>;
  /** Reads such an archive. Its tags are set, also those that other images have. */
  load(archive: AsyncIterable<Buffer>): Promise<void>;
  /** Tags that begin with `prefix`. */
  tags(prefix: string): Promise<readonly string[]>;
  /** What builds images here. */
  builder(): Promise<Builder>;
  /**
   * Builds from a tar stream. @returns the image's id. `context` is called again when the build has
   * to be repeated.
   */
  build(context: BuildContext, options: BuildOptions): Promise<string>;
  /** Reduces the build cache to `limit` bytes. `cache` is the prefix of the names of its images. */
  trimCache(options: { readonly cache: string; readonly limit: number }): Promise<void>;
  /**
   * Removes unused images with these labels, images whose name begins with `cache`, and the
   * engine's own build cache.
   */
  prune(options: {
    readonly labels: Readonly<Record<string, string>>;
    readonly cache: string;
    /** Hears what is done next, because an engine may take minutes. */
    readonly note: (step: string) => void;
  }): Promise<Pruned>;
}
