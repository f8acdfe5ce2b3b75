import type { Readable } from 'node:stream';

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
  /** Tries a login. @throws EngineError when the registry refuses it or does not answer. */
  signIn(login: RegistryLogin, signal: AbortSignal): Promise<void>;
  find(reference: string): Promise<EngineImage | null>;
  tag(imageId: string, reference: string): Promise<void>;
  /**
   * Removes a tag, and the image with its last tag. Does nothing when the tag does not exist.
   * @throws EngineError `conflict` while a container uses the image.
   */
  untag(reference: string): Promise<void>;
  /** Tags that begin with `prefix`. */
  tags(prefix: string): Promise<readonly string[]>;
  /**
   * Builds from a tar stream. @returns the image's id. `context` is called again when the build has
   * to be repeated.
   */
  build(context: () => Readable, options: BuildOptions): Promise<string>;
  /**
   * Removes unused images with these labels, images whose name begins with `cache`, and the
   * engine's own build cache.
   */
  prune(options: {
    readonly labels: Readonly<Record<string, string>>;
    readonly cache: string;
  }): Promise<Pruned>;
}
