import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@twofold/runtime/kernel';
import type { Reach } from '../deploy/containers.ts';
import type { Engine, EngineEvent, EngineInfo } from './engine.ts';
import { EngineError } from './errors.ts';

/** The engine, which may be away and come back while the server runs. */
export interface EngineConnection {
  /** @throws EngineError 503 while it is away. */
  engine(): Engine;
  /** How containers are reached; found out at each connect, and again once there is one. */
  reach(): Reach;
  info(): EngineInfo | null;
  /** Asks the engine itself, within the time. */
  connected(timeout?: number): Promise<boolean>;
  /** Connects, or leaves it to the loop when nothing answers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ConnectionOptions {
  readonly connect: () => Promise<Engine>;
  readonly labels: () => Readonly<Record<string, string>>;
  readonly network: () => string;
  /** Overrides what the machine's interfaces say. */
  readonly reach: Reach | null;
  readonly log: Logger;
  /** Each time it is there again. */
  readonly onConnect: () => Promise<void>;
  readonly onEvent: (event: EngineEvent) => void;
}

const RETRY = 1000;

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
  const run = async (ready: () => void) => {
    while (!abort.signal.aborted) {
      await follow(options, abort.signal, (connected) => (current = connected), ready).catch(lose);
      if (abort.signal.aborted) return;
      // A stream of events may end while the engine is well: then the next round is at once.
      const well = await current?.engine.ping().then(() => true, lose);
      if (well !== true) await sleep(RETRY, undefined, { signal: abort.signal }).catch(() => {});
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
    start: () => new Promise<void>((resolve) => (loop = run(resolve))),
    async stop() {
      abort.abort();
      await loop;
    },
  };
}

/** One connection from its beginning to its end. */
async function follow(
  options: ConnectionOptions,
  signal: AbortSignal,
  use: (connected: Connected) => void,
  ready: () => void,
): Promise<void> {
  const engine = await options.connect();
  const gateway = await engine.ensureNetwork(options.network(), options.labels());
  const findReach = createFindReach(gateway);
  const info = await engine.info();
  use({ engine, info, reach: () => options.reach ?? findReach() });
  options.log.info(`container engine: ${info.kind} ${info.version}`);
  // Listening starts before the state is read, or what happens in between would be missed.
  const events = engine.events(options.labels(), signal)[Symbol.asyncIterator]();
  const first = events.next();
  first.catch(() => {});
  await options.onConnect();
  ready();
  for (let event = await first; !event.done; event = await events.next())
    options.onEvent(event.value);
}

/**
 * Containers are reached by their own address when the network's gateway is an interface of this
 * machine. Podman makes the bridge with the first container, and an empty bridge is not listed:
 * until then ports are published. A published port leads through a process of Docker's, and ends
 * with it.
 */
function createFindReach(gateway: string | null): () => Reach {
  let found: Reach = 'port';
  return () => {
    if (found === 'port' && isLocal(gateway)) found = 'address';
    return found;
  };
}

/**
 * Whether the network's gateway is an interface of this machine: then a container's own address can
 * be reached.
 */
function isLocal(gateway: string | null): boolean {
  if (gateway === null) return false;
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === gateway),
  );
}
