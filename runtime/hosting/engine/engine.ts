import type { HostingModel } from '@twofold/schema';
import type { ImageStore } from './images.ts';

/** Which driver talks to the engine. */
export type EngineKind = Exclude<HostingModel['engine']['kind'], 'auto'>;

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
  /** Whether all containers run on the engine's own machine. */
  readonly oneMachine: boolean;
}

/**
 * Normalised over both engines: Podman also says `stopped` and `initialized`, and never
 * `restarting`.
 */
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
  /**
   * Publishes `port` on a free port of 127.0.0.1: for a server that cannot reach the container's
   * own address.
   */
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

/**
 * How far a reader has come in one container's output: the time of the last line, and how many of
 * that time it has had.
 */
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

/** Something happened to a container that carries our labels. */
export interface EngineEvent {
  /** `stop`: a call stopped it, ours or another program's. */
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

/**
 * What runs containers: the seam that each driver (`drivers/`) implements. A container is one
 * replica of one revision of an app, wherever it runs: Swarm makes it a service of one task. Every
 * method throws an `EngineError`, which is `unavailable` when the engine does not answer.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** Whether there is a `stop` event for every container that is stopped by a call. */
  readonly reportsStops: boolean;
  /** Whether it replaces a container that has ended by itself, perhaps on another machine. */
  readonly reschedules: boolean;
  readonly images: ImageStore;
  info(): Promise<EngineInfo>;
  ping(): Promise<void>;

  create(spec: ContainerSpec): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string, graceSeconds: number): Promise<void>;
  remove(id: string): Promise<void>;
  inspect(id: string): Promise<ContainerDetail | null>;
  /** Containers that carry every one of the labels, running or not. */
  list(labels: Readonly<Record<string, string>>): Promise<readonly EngineContainer[]>;
  /**
   * Each line once, as many at a time as have come; followed, until the container has ended, and
   * then all it has printed.
   */
  logs(id: string, options: LogOptions): AsyncGenerator<readonly PlacedLine[]>;
  exec(id: string, command: readonly string[], options: ExecOptions): Promise<ExecResult>;
  usage(id: string): Promise<ContainerUsage | null>;

  /** Makes the network when it is missing; answers with its gateway. */
  ensureNetwork(name: string, labels: Readonly<Record<string, string>>): Promise<string | null>;
  removeNetwork(name: string): Promise<void>;
  /**
   * @throws EngineError `foreign` when there is one of this name without the labels; so does
   * `ensureNetwork`.
   */
  ensureVolume(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  /** Null when no volume has this name. */
  volumeLabels(name: string): Promise<Readonly<Record<string, string>> | null>;
  removeVolume(name: string): Promise<void>;

  /** Until the engine goes away or the signal fires. */
  events(labels: Readonly<Record<string, string>>, signal: AbortSignal): AsyncIterable<EngineEvent>;
}
