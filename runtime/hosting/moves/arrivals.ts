import { PassThrough } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import type { ArrivedApp, HostedApp } from '../records/app.ts';
import { routeOf } from '../deploy/rollout.ts';
import { pump } from '../archives/chunks.ts';
import { receiveApp } from './arrival.ts';
import { noMove } from './failures.ts';
import type { MoveParts } from './parts.ts';
import { digestOf, matchesDigest, tokensOf } from './tokens.ts';

/** The moves to this server. */
export interface Arrivals {
  /** Reads a part of the stream. The first one begins the move. */
  take(part: GivenPart): Promise<{ readonly state: 'copying' | 'started'; readonly bytes: number }>;
  cancel(move: string): Promise<void>;
  /** The source says that the app is here now. @throws AppError 404 when it is not. */
  keep(move: string, proof: string): Promise<ArrivedApp>;
  /** Before anything is started: apps whose move was cut are not started. */
  recover(): Promise<void>;
  /** Removes what is left of moves that were cut, and ends those whose caller is gone. */
  look(): Promise<void>;
  /** Cuts the streams. The next start removes what they have made. */
  stop(): void;
}

export interface GivenPart {
  readonly move: string;
  readonly key: Buffer;
  readonly number: number;
  readonly last: boolean;
  readonly bytes: AsyncIterable<Buffer>;
}

/** A move from its first part until the source keeps it or it ends. */
interface Arrival {
  readonly key: Buffer;
  readonly input: PassThrough;
  readonly done: Promise<HostedApp>;
  app: HostedApp | null;
  state: 'copying' | 'started' | 'keeping' | 'ended';
  bytes: number;
  parts: number;
  /** Whether a request of the caller is open. */
  busy: boolean;
  heard: number;
  error: unknown;
}

/** Milliseconds for which the source passes requests on, and a little more. */
const FORWARD_TIME = 25 * 3_600_000;
const MAX_ARRIVALS = 4;

export function createArrivals(parts: MoveParts): Arrivals {
  const arrivals = new Map<string, Arrival>();
  const end = async (move: string, arrival: Arrival, error: unknown) => {
    if (arrival.state === 'keeping' || arrival.state === 'ended') return;
    arrival.state = 'ended';
    arrival.error ??= error;
    arrival.input.destroy(error as Error);
    await arrival.done.catch(() => {});
    if (arrival.app) await removeApp(parts, arrival.app.id);
    arrivals.delete(move);
  };
  return {
    take: (part) => takePart({ parts, arrivals, end }, part),
    async cancel(move) {
      const arrival = arrivals.get(move);
      if (!arrival) throw noMove();
      await end(move, arrival, new AppError(409, 'CANCELLED', 'The move was cancelled'));
    },
    keep: (move, proof) => keepArrival(parts, arrivals, { move, proof }),
    async recover() {
      for (const { id, spec } of parts.apps.all())
        if (spec.arrival?.kept === false)
          await parts.apps.update(id, { desired: 'stopped', status: 'stopped' });
    },
    async look() {
      const late = parts.now() - parts.patience;
      for (const [move, arrival] of arrivals)
        if (!arrival.busy && arrival.heard < late) await end(move, arrival, noMove());
      const live = new Set([...arrivals.values()].map(({ app }) => app?.id));
      for (const { id, spec } of parts.apps.all())
        if (spec.arrival?.kept === false && !live.has(id) && !arrivals.has(spec.arrival.move))
          await removeApp(parts, id);
    },
    stop() {
      for (const { input } of arrivals.values()) input.destroy();
    },
  };
}

interface OpenArrivals {
  readonly parts: MoveParts;
  readonly arrivals: Map<string, Arrival>;
  readonly end: (move: string, arrival: Arrival, error: unknown) => Promise<void>;
}

async function takePart(
  { parts, arrivals, end }: OpenArrivals,
  { move, key, number, last, bytes }: GivenPart,
): ReturnType<Arrivals['take']> {
  const known = arrivals.get(move);
  if (!known && number !== 1) throw noMove();
  if (!known) assertRoom(parts, arrivals, move);
  const arrival = known ?? begin(parts, move, key);
  arrivals.set(move, arrival);
  if (arrival.busy || number !== arrival.parts + 1 || !arrival.key.equals(key))
    throw failure.conflict('The parts of a move must follow each other');
  arrival.busy = true;
  try {
    await readPart(arrival, bytes);
    arrival.parts = number;
    if (last) await startArrival(parts, arrival);
    return { state: last ? 'started' : 'copying', bytes: arrival.bytes };
  } catch (error) {
    await end(move, arrival, error);
    throw arrival.error;
  } finally {
    arrival.busy = false;
    arrival.heard = parts.now();
  }
}

/** The stream is complete: waits until the app has started. */
async function startArrival(parts: MoveParts, arrival: Arrival): Promise<void> {
  arrival.input.end();
  await arrival.done;
  arrival.state = 'started';
  parts.onStep('move-started');
}

async function keepArrival(
  parts: MoveParts,
  arrivals: Map<string, Arrival>,
  { move, proof }: { readonly move: string; readonly proof: string },
): Promise<ArrivedApp> {
  const app = parts.apps.all().find(({ spec }) => spec.arrival?.move === move);
  const given = app?.spec.arrival;
  if (!app || !given || !matchesDigest(proof, given.proof)) throw noMove();
  if (given.kept) return given;
  const arrival = arrivals.get(move);
  if (arrival?.state !== 'started') throw noMove();
  // Nothing removes the app from here on, unless its record cannot be written.
  arrival.state = 'keeping';
  try {
    const kept = await keepApp(parts, app, given);
    arrivals.delete(move);
    return kept;
  } catch (error) {
    arrival.state = 'started';
    throw error;
  }
}

function assertRoom(parts: MoveParts, arrivals: ReadonlyMap<string, Arrival>, move: string): void {
  parts.connection.engine();
  if (arrivals.size >= MAX_ARRIVALS)
    throw failure.conflict('Other apps are being moved to this server: wait for their end');
  if (parts.apps.all().some(({ spec }) => spec.arrival?.move === move))
    throw failure.conflict('This move has ended already');
}

function begin(parts: MoveParts, move: string, key: Buffer): Arrival {
  const tokens = tokensOf(key, move);
  const input = new PassThrough({ highWaterMark: 1024 * 1024 });
  input.on('error', () => {});
  const made: ArrivedApp = {
    move,
    kept: false,
    proof: digestOf(tokens.proof),
    answer: tokens.answer,
    forwarder: digestOf(tokens.forward),
    until: parts.now() + FORWARD_TIME,
  };
  const done = receiveApp(parts, input as AsyncIterable<Buffer>, {
    key,
    arrival: made,
    onRecord: (app) => void (arrival.app = app),
  });
  const arrival: Arrival = {
    key,
    input,
    done,
    app: null,
    state: 'copying',
    bytes: 0,
    parts: 0,
    busy: false,
    heard: parts.now(),
    error: undefined,
  };
  done.catch((error: unknown) => {
    arrival.error ??= error;
    input.destroy();
  });
  return arrival;
}

/** @throws the error of the move, when it has failed. */
async function readPart(arrival: Arrival, bytes: AsyncIterable<Buffer>): Promise<void> {
  const counted = async function* () {
    for await (const chunk of bytes) {
      arrival.bytes += chunk.length;
      yield chunk;
    }
  };
  await pump(counted(), arrival.input);
  if (arrival.input.destroyed) {
    await arrival.done;
    throw arrival.error ?? noMove();
  }
}

async function keepApp(
  parts: MoveParts,
  { id }: HostedApp,
  given: ArrivedApp,
): Promise<ArrivedApp> {
  const app = parts.apps.byId(id) as HostedApp;
  const arrival = { ...given, kept: true };
  const kept = await parts.apps.update(id, { spec: { ...app.spec, arrival } });
  const route = parts.ingress.get(id);
  if (route) parts.ingress.set({ ...route, ...routeOf(kept) });
  parts.events.emit('arrived', { app: kept.name });
  return arrival;
}

async function removeApp(parts: MoveParts, appId: string): Promise<void> {
  const { lifecycle } = parts;
  const app = parts.apps.byId(appId);
  if (!app) return;
  await lifecycle.remove(app, { volumes: true }).catch((error: Error) => {
    parts.log.warn(`${app.name}, whose move has failed, is left for now: ${error.message}`);
  });
}
