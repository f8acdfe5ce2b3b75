import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure } from '@twofold/runtime/errors';
import { idleRoute } from '../deploy/rollout.ts';
import type { HostedApp } from '../records/app.ts';
import { confirmMove, type Confirming, type Confirmation, findUnreachable } from './confirm.ts';
import {
  currentApp,
  type Departure,
  endDeparture,
  startAgain,
  streamDeparture,
  type HeldApp,
  holdApp,
} from './departure.ts';
import { noMove, targetFailed } from './failures.ts';
import type { MoveParts } from './parts.ts';
import { tokensOf } from './tokens.ts';

/** The moves away from this server. */
export interface Departures {
  /** @throws AppError 409 while the app is moved already, 422 when the target cannot be reached. */
  begin(app: HostedApp, asked: AskedMove): Promise<Readable>;
  /** The state of a move. It ends when nobody has asked for it for a while. */
  state(app: HostedApp, move: string): Departure;
  /** Gives the app to the target. @throws AppError 502 when the target does not keep it. */
  commit(app: HostedApp, move: string): Promise<HostedApp>;
  cancel(app: HostedApp, move: string): Promise<void>;
  /** Ends the move of an app that is deleted. */
  end(app: HostedApp): void;
  /** Before anything is started: apps whose move was at its last step stay stopped. */
  recover(): Promise<void>;
  /** Ends moves whose caller is gone, and asks targets again that a killed server had asked. */
  look(): Promise<void>;
}

export interface AskedMove {
  readonly move: string;
  readonly key: Buffer;
  readonly to: string;
}

/** Milliseconds for which requests are passed on. */
const FORWARD_TIME = 24 * 3_600_000;
/** Milliseconds in which a target has to say whether it has the app. */
const CONFIRM_TIME = 120_000;
const CONFIRM_PAUSE = 1000;

const markOf = (appId: string) => `move:${appId}`;

/** What is remembered while the target is asked, because only the target knows who has the app. */
interface Mark extends Confirming {
  readonly running: boolean;
}

export function createDepartures(parts: MoveParts): Departures {
  const { vault } = parts;
  const departures = new Map<string, Departure>();
  /** The apps whose targets a server that was killed had asked. */
  const marked = new Set<string>();
  const find = (app: HostedApp, move: string): Departure => {
    const departure = departures.get(app.id);
    if (departure?.move !== move || departure.state === 'ended') throw noMove();
    departure.heard = parts.now();
    return departure;
  };
  return {
    begin: (app, asked) => begin(parts, departures, { app, ...asked }),
    state: find,
    commit: (app, move) => commit(parts, app, find(app, move)),
    async cancel(app, move) {
      const departure = find(app, move);
      if (departure.state === 'committing')
        throw failure.conflict(
          'The target is being asked to keep the app: it is too late to cancel',
        );
      await endDeparture(parts, departure);
    },
    end(app) {
      const departure = departures.get(app.id);
      if (departure?.state === 'copying') departure.state = 'ended';
    },
    async recover() {
      for (const { id } of parts.apps.all()) {
        if ((await vault.get(markOf(id))) === undefined) continue;
        await parts.apps.update(id, { desired: 'stopped', status: 'stopped' });
        marked.add(id);
      }
    },
    async look() {
      const late = parts.now() - parts.patience;
      for (const departure of departures.values())
        if (['copying', 'stopped'].includes(departure.state) && departure.heard < late) {
          parts.log.warn('a move is ended, because nobody has asked for its state any more');
          await endDeparture(parts, departure);
        }
      for (const id of [...marked]) {
        marked.delete(id);
        void settleMarked(parts, id).catch((error: Error) => {
          parts.log.warn(`a move that was cut: ${error.message}`);
          marked.add(id);
        });
      }
    },
  };
}

async function begin(
  parts: MoveParts,
  departures: Map<string, Departure>,
  { app, move, key, to }: AskedMove & { readonly app: HostedApp },
): Promise<Readable> {
  currentApp(parts, { appId: app.id });
  const known = departures.get(app.id);
  if (known && known.state !== 'ended') throw failure.conflict('The app is being moved already');
  const departure: Departure = {
    move,
    key,
    to,
    appId: app.id,
    state: 'copying',
    heard: parts.now(),
    held: null,
  };
  departures.set(app.id, departure);
  const unreachable = await findUnreachable(to);
  if (unreachable === null)
    return Readable.from(streamDeparture(parts, departure), { objectMode: false });
  departure.state = 'ended';
  throw failure.unprocessable(
    `This server must reach the target, to pass requests on: ${unreachable}`,
  );
}

async function commit(parts: MoveParts, app: HostedApp, departure: Departure): Promise<HostedApp> {
  const { held, key, move, to } = departure;
  if (departure.state !== 'stopped' || !held)
    throw failure.conflict('The stream of this move was not read to its end');
  departure.state = 'committing';
  const mark: Mark = { move, to, tokens: tokensOf(key, move), running: app.desired === 'running' };
  await parts.vault.set(markOf(app.id), JSON.stringify(mark));
  parts.onStep('move-marked');
  try {
    return await settle(parts, { appId: app.id, held, mark });
  } finally {
    departure.state = 'ended';
  }
}

async function settleMarked(parts: MoveParts, appId: string): Promise<void> {
  const held = await holdApp(parts, appId);
  const text = await parts.vault.get(markOf(appId));
  if (text === undefined) return held.leave();
  await settle(parts, { appId, held, mark: JSON.parse(text) as Mark }).catch((error: Error) =>
    parts.log.warn(`a move that was cut: ${error.message}`),
  );
}

interface Settled {
  readonly appId: string;
  readonly held: HeldApp;
  readonly mark: Mark;
}

/**
 * The last step, from which only the target's answer leads on: it has the app, or it runs here
 * again.
 */
async function settle(parts: MoveParts, { appId, held, mark }: Settled): Promise<HostedApp> {
  const { vault } = parts;
  try {
    await parts.apps.update(appId, { desired: 'stopped', status: 'stopped' });
    const said = await confirmed(parts, mark, held.signal);
    if (said.kind === 'kept') return await handOver(parts, appId, { mark, forward: said.forward });
    // A server that stops asks again when it starts.
    if (held.signal.aborted) throw targetFailed('this server stops');
    await parts.apps.update(appId, { desired: mark.running ? 'running' : 'stopped' });
    await vault.delete(markOf(appId));
    await startAgain(parts, appId);
    const left = said.kind === 'silent' ? '. If the app is there, delete it there' : '';
    throw targetFailed(said.why + left);
  } finally {
    await held.leave();
  }
}

async function confirmed(parts: MoveParts, mark: Mark, signal: AbortSignal): Promise<Confirmation> {
  const end = parts.now() + CONFIRM_TIME;
  for (;;) {
    const said = await confirmMove(mark);
    if (said.kind !== 'silent' || parts.now() > end || signal.aborted) return said;
    await sleep(CONFIRM_PAUSE, undefined, { signal }).catch(() => {});
  }
}

type Kept = Extract<Confirmation, { kind: 'kept' }>;

async function handOver(
  parts: MoveParts,
  appId: string,
  { mark, forward }: { readonly mark: Mark; readonly forward: Kept['forward'] },
): Promise<HostedApp> {
  const { vault } = parts;
  parts.onStep('move-kept');
  const { spec } = parts.apps.byId(appId) as HostedApp;
  const moved = { to: mark.to, until: parts.now() + FORWARD_TIME, forward };
  const app = await parts.apps.update(appId, {
    desired: 'stopped',
    status: 'stopped',
    error: null,
    spec: { ...spec, moved },
  });
  parts.ingress.set(idleRoute(app, 'stopped'));
  await vault.delete(markOf(appId));
  parts.onStep('move-forwarding');
  parts.events.emit('moved', { app: app.name, to: mark.to });
  return app;
}
