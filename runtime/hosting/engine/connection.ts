import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@twofold/runtime/kernel';
import type { Engine, EngineEvent, EngineInfo } from './engine.ts';
import { EngineError } from './errors.ts';

/**
 * How the server reaches a container: at the container's own address, or at a port that is
 * published on 127.0.0.1.
 */
export type Reach = 'address' | 'port';

/** The connection to the engine. The engine may stop and come back while the server runs. */
export interface EngineConnection {
  /** @throws EngineError 503 while the engine is not reachable. */
  engine(): Engine;
  /** How containers are reached, detected at each connection, and again until it is known. */
  reach(): Reach;
  info(): EngineInfo | null;
  /** Sends a ping to the engine, and waits for the answer at most `timeout` milliseconds. */
  connected(timeout?: number): Promise<boolean>;
  /** Connects. Resolves even if no engine answers; the attempts then continue. */
  start(followers: readonly EngineFollower[]): Promise<void>;
  stop(): Promise<void>;
}

export interface ConnectionOptions {
  readonly connect: () => Promise<Engine>;
  readonly labels: () => Readonly<Record<string, string>>;
  readonly network: () => string;
  /** Overrides the detection from the machine's network interfaces. */
  readonly reach: Reach | null;
  readonly log: Logger;
}

/** What has to know of the engine's state. Each is called in its turn. */
export interface EngineFollower {
  /** Called after each connection to the engine. */
  recover?(): Promise<void>;
  onEvent?(event: EngineEvent): void;
}

const RETRY_PAUSE = 1000;

interface Connected {
  readonly engine: Engine;
  readonly info: EngineInfo;
  readonly reach: () => Reach;
}

export function createConnection(options: ConnectionOptions): EngineConnection {
  const abort = new AbortController();
  let current: Connected | null = null;
  let reason = '';
  let loop: Promise<void> = Promise.resolve();

  const lose = (error: unknown) => {
    const message = (error as Error).message ?? String(error);
    if (current || message !== reason) options.log.warn(`container engine is away: ${message}`);
    current = null;
    reason = message;
  };
  const run = async (followers: readonly EngineFollower[], ready: () => void) => {
    while (!abort.signal.aborted) {
      const use = (connected: Connected) => (current = connected);
      await follow(options, followers, { signal: abort.signal, use, ready }).catch(lose);
      if (abort.signal.aborted) return;
      // The event stream may end although the engine works: connect again without a pause.
      const well = await current?.engine.ping().then(() => true, lose);
      if (well !== true)
        await sleep(RETRY_PAUSE, undefined, { signal: abort.signal }).catch(() => {});
      ready();
    }
  };

  return {
    engine() {
      if (current) return current.engine;
      throw new EngineError('unavailable', 'The container engine is away');
    },
    reach: () => current?.reach() ?? 'address',
    info: () => current?.info ?? null,
    async connected(timeout = 1000) {
      if (!current) return false;
      const late = sleep(timeout, false, { ref: false });
      return await Promise.race([
        current.engine.ping().then(
          () => true,
          () => false,
        ),
        late,
      ]);
    },
    start: (followers) => new Promise<void>((resolve) => (loop = run(followers, resolve))),
    async stop() {
      abort.abort();
      await loop;
    },
  };
}

/** Connects once, and handles events until the connection ends. */
async function follow(
  options: ConnectionOptions,
  followers: readonly EngineFollower[],
  {
    signal,
    use,
    ready,
  }: { signal: AbortSignal; use: (connected: Connected) => void; ready: () => void },
): Promise<void> {
  const engine = await options.connect();
  const gateway = await engine.ensureNetwork(options.network(), options.labels());
  const findReach = createFindReach(gateway);
  const info = await engine.info();
  use({ engine, info, reach: () => options.reach ?? findReach() });
  options.log.info(`container engine: ${info.kind} ${info.version}`);
  // Subscribes to events before the state is read, so that no change in between is missed.
  const events = engine.events(options.labels(), signal)[Symbol.asyncIterator]();
  const first = events.next();
  first.catch(() => {});
  for (const follower of followers) await follower.recover?.();
  ready();
  for (let event = await first; !event.done; event = await events.next())
    for (const follower of followers) follower.onEvent?.(event.value);
}

/**
 * Decides how containers are reached. Their own address is used when the network's gateway is an
 * interface of this machine. Otherwise ports are published; but a published port of Docker leads
 * through a proxy process, and its connections end with that process. Podman creates the bridge
 * interface with the first container, so the check is repeated until it succeeds.
 */
function createFindReach(gateway: string | null): () => Reach {
  let found: Reach = 'port';
  return () => {
    if (found === 'port' && isLocal(gateway)) found = 'address';
    return found;
  };
}

/**
 * Whether the network's gateway is an interface of this machine, so that the containers' own
 * addresses can be reached.
 */
function isLocal(gateway: string | null): boolean {
  if (gateway === null) return false;
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === gateway),
  );
}
