import type { Readable } from 'node:stream';

/** Which driver talks to the engine. */
export type EngineKind = 'docker' | 'podman' | 'swarm';

/** What an engine says of itself. */
export interface EngineInfo {
  readonly kind: EngineKind;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  /** Where images and volumes lie on the engine's machine. */
  readonly root: string;
}

/** A local image. `id` is the content's own name and never moves, as a tag does. */
export interface EngineImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** Ports the image exposes over TCP. */
  readonly ports: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
  /** What it does to every build on it. Podman keeps that to itself. */
  readonly triggers: readonly string[];
  /** Bytes. */
  readonly size: number;
}

/** Normalised over both engines: Podman also says `stopped` and `initialized`, and never `restarting`. */
export type ContainerState = 'created' | 'running' | 'paused' | 'stopped' | 'dead';

export interface EngineContainer {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: ContainerState;
}

export interface ContainerDetail extends EngineContainer {
  readonly imageId: string;
  readonly exitCode: number;
  readonly error: string;
  readonly outOfMemory: boolean;
  readonly pid: number;
  readonly startedAt: string;
  /** Address on each network, by the network's name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Container port → port of the engine's machine. */
  readonly ports: Readonly<Record<number, number>>;
  /** Where it answers, when that is on another machine. */
  readonly endpoint?: { readonly host: string; readonly port: number };
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  /** The image by name: another machine has to find it in a registry. */
  readonly reference: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[] | null;
  readonly port: number;
  /** Publishes `port` on a free port of 127.0.0.1: for a server that cannot reach the container's own address. */
  readonly publish: boolean;
  readonly network: string;
  readonly aliases: readonly string[];
  readonly volumes: readonly { readonly volume: string; readonly path: string }[];
  /** Bytes; 0 is no limit. */
  readonly memory: number;
  /** 0 is no limit. */
  readonly cpus: number;
  readonly pids: number;
}

/** One line of a container's output, without its line end. */
export interface LogLine {
  readonly stream: 'stdout' | 'stderr';
  /** RFC 3339: nanoseconds; whole seconds from Podman's stream. */
  readonly time: string;
  readonly text: string;
}

/** How far a reader has come in one container's output: the time of the last line, and how many of that time it has had. */
export interface LogPosition {
  readonly time: string;
  readonly seen: number;
}

/** A line, and how far a reader has come that has had it. */
export interface PlacedLine extends LogLine, LogPosition {}

export interface LogOptions {
  /** Lines from the end; absent is all. */
  readonly tail?: number | undefined;
  /** Unix seconds. */
  readonly since?: number | undefined;
  /** Goes on behind this line, whatever `tail` says. */
  readonly after?: LogPosition | undefined;
  /** Until the container ends. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

export interface ExecOptions {
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes kept of each stream. */
  readonly limit: number;
}

export interface BuildOptions {
  readonly tag: string;
  /** A name without a tag: what stages and failed builds leave is kept below it for the next build. */
  readonly cache: string;
  readonly dockerfile: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes; 0 is no limit. */
  readonly memory: number;
  readonly cpus: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** Something happened to a container that carries our labels. */
export interface EngineEvent {
  /** `stop`: it was told to stop, by us or by somebody else. */
  readonly action: 'start' | 'die' | 'stop' | 'remove' | 'oom';
  readonly containerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly exitCode: number | null;
  /** Milliseconds since 1970, by the engine's clock. */
  readonly at?: number;
}

/** Counters of a running container at one moment. Bytes, and nanoseconds of CPU time. */
export interface ContainerUsage {
  readonly cpu: number;
  readonly memory: number;
  readonly memoryLimit: number;
  readonly networkIn: number;
  readonly networkOut: number;
  readonly pids: number;
}

export interface Pruned {
  readonly images: number;
  /** Bytes. */
  readonly reclaimed: number;
}

/**
 * A container engine. One for each driver; what differs between Docker and Podman ends here. Every method throws an
 * `EngineError`, and `unavailable` when the engine does not answer.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** Whether there is an event for every container that is told to stop. */
  readonly tellsStops: boolean;
  /** Whether it starts again by itself what has ended, perhaps on another machine. */
  readonly bringsBack: boolean;
  info(): Promise<EngineInfo>;
  ping(): Promise<void>;

  pull(reference: string, signal: AbortSignal): Promise<void>;
  image(reference: string): Promise<EngineImage | null>;
  tag(imageId: string, reference: string): Promise<void>;
  /** Removes a tag, and the image with its last one. Nothing happens when it is absent. @throws EngineError `conflict` while a container has it. */
  untag(reference: string): Promise<void>;
  /** Tags that begin with `prefix`. */
  tags(prefix: string): Promise<readonly string[]>;
  /** Builds the tar stream and answers with the image's id. It is asked for again when a build has to begin anew. */
  build(context: () => Readable, options: BuildOptions): Promise<string>;

  create(spec: ContainerSpec): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string, graceSeconds: number): Promise<void>;
  remove(id: string): Promise<void>;
  inspect(id: string): Promise<ContainerDetail | null>;
  /** Containers that carry every one of the labels, running or not. */
  list(labels: Readonly<Record<string, string>>): Promise<readonly EngineContainer[]>;
  /** Each line once, as many at a time as have come; followed, until the container has ended, and then all it has printed. */
  logs(id: string, options: LogOptions): AsyncGenerator<readonly PlacedLine[]>;
  exec(id: string, command: readonly string[], options: ExecOptions): Promise<ExecResult>;
  usage(id: string): Promise<ContainerUsage | null>;

  /** Makes the network when it is missing; answers with its gateway. */
  ensureNetwork(name: string, labels: Readonly<Record<string, string>>): Promise<string | null>;
  removeNetwork(name: string): Promise<void>;
  /** @throws EngineError `foreign` when there is one of this name without the labels; so does `ensureNetwork`. */
  ensureVolume(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  /** Null when there is none of this name. */
  volumeLabels(name: string): Promise<Readonly<Record<string, string>> | null>;
  removeVolume(name: string): Promise<void>;

  /** Until the engine goes away or the signal fires. */
  events(labels: Readonly<Record<string, string>>, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Unused images that carry the labels, what has a name that begins with `cache`, and the engine's own build cache. */
  prune(options: {
    readonly labels: Readonly<Record<string, string>>;
    readonly cache: string;
  }): Promise<Pruned>;
}
