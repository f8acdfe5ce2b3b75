import type { Duplex } from 'node:stream';
import type { HostingModel } from '@twofold/schema';
import type { ImageStore, RegistryLogin } from './images.ts';
import type { PipedCommand, PipeOptions, VolumeFiles } from './volume-files.ts';

/** Which driver talks to the engine. */
export type EngineKind = Exclude<HostingModel['engine']['kind'], 'auto'>;

/** The engine's description of itself. */
export interface EngineInfo {
  readonly kind: EngineKind;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  /** The folder of images and volumes on the engine's machine. */
  readonly root: string;
  /** Whether all containers run on the engine's own machine. */
  readonly oneMachine: boolean;
}

/**
 * A state, with the same names for both engines: Podman also has `stopped` and `initialized`, and
 * never reports `restarting`.
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
  /** Null when the engine no longer knows it. */
  readonly exitCode: number | null;
  readonly error: string;
  readonly outOfMemory: boolean;
  readonly pid: number;
  readonly startedAt: string;
  /** Address on each network, by the network's name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The published port on its machine, by container port and protocol: `8080/tcp`. */
  readonly ports: Readonly<Record<string, number>>;
  /** The address of its machine, if that may be another one than the engine's. */
  readonly machine?: string;
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  /** The name of the image. Another machine needs it to pull the image from a registry. */
  readonly reference: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[] | null;
  /** Null, or absent: what the image says. */
  readonly entrypoint?: readonly string[] | null;
  readonly user?: string | null;
  readonly workingDir?: string | null;
  /** Whether a small init process starts the container's process; true when absent. */
  readonly init?: boolean;
  /** Files to copy in before the start, with their content in base64. */
  readonly files?: readonly {
    readonly path: string;
    readonly content: string;
    readonly executable: boolean;
  }[];
  /** Null for a container that nothing connects to. */
  readonly port: number | null;
  /** Further ports, as `5432/tcp`. */
  readonly streams?: readonly string[];
  /** Publishes the ports on 127.0.0.1, for a server that cannot reach the container's own address. */
  readonly publish: boolean;
  readonly network: string;
  /** Further networks, on which it has the same aliases. */
  readonly networks?: readonly string[];
  readonly aliases: readonly string[];
  readonly volumes: readonly { readonly volume: string; readonly path: string }[];
  /** Bytes. 0 means no limit. */
  readonly memory: number;
  /** 0 means no limit. */
  readonly cpus: number;
  readonly pids: number;
  /** Whether it ends with its command: an engine that restarts containers leaves this one alone. */
  readonly once?: boolean;
  /** Seconds between SIGTERM and SIGKILL when the engine itself stops it; null: as it likes. */
  readonly grace?: number | null;
  /** Whether it is a plain container of the engine's own machine on every engine. */
  readonly local?: boolean;
  /** Whether commands will be run in it, which only the engine's own machine can do. */
  readonly stays?: boolean;
}

/** One line of a container's output, without its line end. */
export interface LogLine {
  readonly stream: 'stdout' | 'stderr';
  /** RFC 3339 with nanoseconds, or with whole seconds in Podman's stream. */
  readonly time: string;
  readonly text: string;
}

/**
 * The position of a reader in one container's output: the time of the last line, and how many lines
 * with that time the reader has had.
 */
export interface LogPosition {
  readonly time: string;
  readonly seen: number;
}

/** A line with the position of a reader that has read up to it. */
export interface PlacedLine extends LogLine, LogPosition {}

export interface LogOptions {
  /** The number of lines from the end. All lines if it is not set. */
  readonly tail?: number | undefined;
  /** Unix seconds. */
  readonly since?: number | undefined;
  /** Continues after this position; `tail` is then ignored. */
  readonly after?: LogPosition | undefined;
  /** Continues until the container ends. */
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
  /** How many bytes of each stream to keep. */
  readonly limit: number;
}

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A command that runs in a container with a terminal of its own. */
export interface EngineTerminal {
  /**
   * What is typed goes in, what is printed comes out. It ends with the command or the container.
   */
  readonly stream: Duplex;
  resize(size: TerminalSize): Promise<void>;
  /** Null when the engine does not know it. */
  exitCode(): Promise<number | null>;
  /** Ends the command: engines let it run on when nobody reads its output any more. */
  end(): Promise<void>;
}

/** An event of a container that has our labels. */
export interface EngineEvent {
  /** `stop` means that a call has stopped it: ours or another program's. */
  readonly action: 'start' | 'die' | 'stop' | 'remove' | 'oom';
  readonly containerId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly exitCode: number | null;
  /** Milliseconds since 1970, by the engine's clock. */
  readonly at?: number;
}

/** The counters of a running container at one moment, in bytes and in nanoseconds of CPU time. */
export interface ContainerUsage {
  readonly cpu: number;
  readonly memory: number;
  readonly memoryLimit: number;
  readonly networkIn: number;
  readonly networkOut: number;
  readonly pids: number;
}

export interface VolumeOptions {
  /**
   * The caller writes its files, and the owner of its own folder. Otherwise engines give the folder
   * to the user of the first container.
   */
  readonly filled: boolean;
}

/**
 * A container engine, implemented by each driver in `drivers/`. A container is one replica of one
 * revision of an app; Swarm runs it as a service with one task. Every method throws `EngineError`,
 * with the kind `unavailable` when the engine does not answer.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** Whether the engine sends a `stop` event for each container that is stopped by a call. */
  readonly reportsStops: boolean;
  /** Whether the engine itself replaces a container that has ended, perhaps on another machine. */
  readonly reschedules: boolean;
  readonly images: ImageStore;
  info(): Promise<EngineInfo>;
  ping(): Promise<void>;

  /** An engine that starts containers on other machines passes the login on to them. */
  create(spec: ContainerSpec, login?: RegistryLogin): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string, graceSeconds: number): Promise<void>;
  remove(id: string): Promise<void>;
  inspect(id: string): Promise<ContainerDetail | null>;
  /** The containers that have all of the labels, running or not. */
  list(labels: Readonly<Record<string, string>>): Promise<readonly EngineContainer[]>;
  /**
   * Yields each line once, in batches. With `follow` it continues until the container has ended and
   * all its output was read.
   */
  logs(id: string, options: LogOptions): AsyncGenerator<readonly PlacedLine[]>;
  exec(id: string, command: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /** Runs a command with its input and output as streams, until it ends or the signal aborts. */
  pipe(id: string, command: readonly string[], options: PipeOptions): Promise<PipedCommand>;
  /** Runs a command with a terminal, until it ends or `end` is called. */
  terminal(id: string, command: readonly string[], size: TerminalSize): Promise<EngineTerminal>;
  usage(id: string): Promise<ContainerUsage | null>;

  /**
   * Creates the network if it does not exist, however many ask for it at the same moment. Containers
   * that have lost theirs get it. From an `internal` one nothing else can be reached.
   * @returns its gateway.
   */
  ensureNetwork(
    name: string,
    labels: Readonly<Record<string, string>>,
    options?: { readonly internal?: boolean; readonly driver?: 'bridge' | 'overlay' },
  ): Promise<string | null>;
  /**
   * @param isWanted is asked when no other call is creating or removing one: true, it stays.
   * @throws EngineError `foreign` when the network lacks the labels.
   */
  removeNetwork(
    name: string,
    labels: Readonly<Record<string, string>>,
    isWanted?: () => boolean,
  ): Promise<void>;
  /**
   * @throws EngineError `foreign` when a volume of this name exists without the labels.
   * `ensureNetwork` does the same.
   */
  ensureVolume(
    name: string,
    labels: Readonly<Record<string, string>>,
    options?: VolumeOptions,
  ): Promise<void>;
  /** Bytes by the name of the volume; null where the engine did not count them. */
  volumeSizes(): Promise<ReadonlyMap<string, number | null>>;
  /** Null when no volume has this name. */
  volumeLabels(name: string): Promise<Readonly<Record<string, string>> | null>;
  /** @param isWanted As of `removeNetwork`. */
  removeVolume(name: string, isWanted?: () => boolean): Promise<void>;
  /** Removes the networks and volumes that have all of the labels. */
  removeLabelled(labels: Readonly<Record<string, string>>): Promise<void>;
  /** Opens the files of a volume. `labels` mark what has to be removed after a kill. */
  openVolume(name: string, labels: Readonly<Record<string, string>>): Promise<VolumeFiles>;

  /** Continues until the connection to the engine ends or the signal aborts. */
  events(labels: Readonly<Record<string, string>>, signal: AbortSignal): AsyncIterable<EngineEvent>;
}
