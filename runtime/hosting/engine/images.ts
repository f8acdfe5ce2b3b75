import type { Readable } from 'node:stream';

/** A local image. `id` is the content's own name and never moves, as a tag does. */
export interface EngineImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** Ports the image exposes over TCP. */
  readonly ports: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
  /** The instructions that it adds to every build on it (ONBUILD). Podman does not report them. */
  readonly triggers: readonly string[];
  /** Bytes. */
  readonly size: number;
}

export interface BuildOptions {
  readonly tag: string;
  /**
   * A name without a tag: what stages and failed builds leave is kept below it for the next build.
   */
  readonly cache: string;
  readonly dockerfile: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes; 0 is no limit. */
  readonly memory: number;
  readonly cpus: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

export interface Pruned {
  readonly images: number;
  /** Bytes. */
  readonly reclaimed: number;
}

/**
 * The images of an engine, and how they are built. It is a part of its own: an engine that runs
 * containers on other machines may take its images from a registry, and build them elsewhere.
 */
export interface ImageStore {
  pull(reference: string, signal: AbortSignal): Promise<void>;
  find(reference: string): Promise<EngineImage | null>;
  tag(imageId: string, reference: string): Promise<void>;
  /**
   * Removes a tag, and the image with its last one. Nothing happens when it is absent. @throws
   * EngineError `conflict` while a container has it.
   */
  untag(reference: string): Promise<void>;
  /** Tags that begin with `prefix`. */
  tags(prefix: string): Promise<readonly string[]>;
  /**
   * Builds the tar stream and answers with the image's id. It is asked for again when a build has
   * to begin anew.
   */
  build(context: () => Readable, options: BuildOptions): Promise<string>;
  /**
   * Unused images that carry the labels, what has a name that begins with `cache`, and the engine's
   * own build cache.
   */
  prune(options: {
    readonly labels: Readonly<Record<string, string>>;
    readonly cache: string;
  }): Promise<Pruned>;
}
