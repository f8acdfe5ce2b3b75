import type { Logger } from '@twofold/runtime/kernel';
import { SECOND } from '../base/time.ts';
import { Allowance, isLeasable } from './allowance.ts';
import type { StoredWindows, WindowGrant, WindowRequest } from './stored-windows.ts';
import type { Charge, Windows, WindowState } from './windows.ts';

export interface LeaseOptions {
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
  /** Maximum number of keys with leases. Every hit of a further key is decided by the database. */
  readonly keys?: number;
}

const MAX_LEASED_KEYS = 50_000;

/** Milliseconds between two sweeps: a lease is settled within this time after its end. */
const SWEEP_INTERVAL = SECOND;

/** Maximum number of keys in one statement. */
const BATCH_SIZE = 500;

/** A charge with the state of its window. Without a state the database has to decide. */
interface ChargeState {
  readonly charge: Charge;
  readonly allowance: Allowance | undefined;
  readonly state: WindowState | undefined;
}

/**
 * Windows in the database. This process leases hits in advance when the charge allows it
 * (`Charge.leased`). The database counts a leased hit as used, so all processes together never
 * accept more than the limit, and a leased hit needs no statement. In the background, one statement
 * for all keys settles the used hits and gives back the others. At most half of a limit is leased.
 * Above that the database decides every hit.
 */
export function leasedWindows(stored: StoredWindows, options: LeaseOptions): Windows {
  const allowances = new Map<string, Allowance>();
  const settling = createSettling(stored, allowances, options);
  const capacity = options.keys ?? MAX_LEASED_KEYS;

  const allowanceOf = (charge: Charge): Allowance | undefined => {
    if (!charge.leased || charge.peek || !isLeasable(charge)) return undefined;
    const known = allowances.get(charge.key);
    if (known) return known.isFor(charge) ? known : undefined;
    if (allowances.size >= capacity) return undefined;
    const made = new Allowance(charge);
    allowances.set(charge.key, made);
    return made;
  };
  const take = (allowance: Allowance | undefined, now: number): WindowState | undefined => {
    const state = allowance?.take(now);
    if (state && allowance!.isLow(now)) settling.refill(allowance!);
    return state;
  };
  const decide = async (
    found: readonly ChargeState[],
    now: number,
  ): Promise<readonly WindowState[]> => {
    const undecided = found.filter(({ state }) => state === undefined);
    const giveBack = () => {
      for (const { state, allowance } of found) if (state) allowance!.giveBack(now);
    };
    const grants = await exchangeRequest(stored, undecided, now).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    settling.sweepLater();
    const refused = undecided.filter((_, index) => !grants[index]!.accepted);
    if (refused.length > 0) giveBack();
    // The database may have refused because it had just leased the last hits to this process. Those
    // leases have arrived by now, so try again.
    if (refused.some(({ allowance }) => allowance?.hasLeft(now)))
      return consume(
        found.map(({ charge }) => charge),
        now,
      );
    let next = 0;
    return found.map(({ state }) => state ?? grants[next++]!);
  };
  const consume: Windows['consume'] = (charges, now) => {
    const found = charges.map((charge): ChargeState => {
      const allowance = allowanceOf(charge);
      return { charge, allowance, state: take(allowance, now) };
    });
    if (found.every(({ state }) => state !== undefined)) return found.map(({ state }) => state!);
    return decide(found, now);
  };

  return {
    consume,
    refund: (charges, at) => {
      const settled = charges.filter(({ key }) => !allowances.get(key)?.giveBack(at));
      return settled.length > 0 ? stored.refund(settled, at) : undefined;
    },
    close: settling.close,
  };
}

/** Asks the database for the hits of one request, and in the same statement for leases. */
async function exchangeRequest(
  stored: StoredWindows,
  undecided: readonly ChargeState[],
  now: number,
): Promise<readonly WindowGrant[]> {
  const requests = undecided.map(({ charge, allowance }): WindowRequest => ({
    ...charge,
    ...allowance?.ask(now),
  }));
  const changes = undecided.flatMap(({ allowance }) => allowance?.settle(now) ?? []);
  try {
    const grants = await stored.exchange(requests, changes, now);
    undecided.forEach(({ allowance }, index) =>
      allowance?.receive(requests[index]!, grants[index]!, now),
    );
    return grants;
  } catch (error) {
    undecided.forEach(({ allowance }, index) => allowance?.fail(requests[index]!));
    throw error;
  }
}

/** Takes leases for keys in use and settles the leases that have ended, in the background. */
function createSettling(
  stored: StoredWindows,
  allowances: Map<string, Allowance>,
  { now, log }: LeaseOptions,
) {
  const low = new Set<Allowance>();
  let refilling: NodeJS.Timeout | undefined;
  let sweeping: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const forget = (allowance: Allowance) => {
    const { key } = allowance.charge;
    if (allowance.isEmpty() && allowances.get(key) === allowance) allowances.delete(key);
  };
  const settleBatch = async (batch: readonly Allowance[]): Promise<void> => {
    const at = now();
    const requests = batch.map((allowance): WindowRequest => {
      const wanted = low.delete(allowance) ? allowance.ask(at) : {};
      return { ...allowance.charge, ...wanted, peek: true };
    });
    const changes = batch.flatMap((allowance) => allowance.settle(at));
    const isIdle = changes.length === 0 && requests.every(({ until }) => until === undefined);
    try {
      const grants = isIdle ? [] : await stored.exchange(requests, changes, at);
      grants.forEach((grant, index) => batch[index]!.receive(requests[index]!, grant, at));
    } catch (error) {
      // Hits that could not be settled stay counted as used: a limit is then reached early, never
      // late.
      batch.forEach((allowance, index) => allowance.fail(requests[index]!));
      const reason = error instanceof Error ? error.message : 'unknown';
      log.warn({ reason }, 'leased rate limits could not be settled');
    }
    for (const allowance of batch) forget(allowance);
  };
  const settle = (all: readonly Allowance[]) => {
    running = running.then(async () => {
      for (let first = 0; first < all.length; first += BATCH_SIZE)
        await settleBatch(all.slice(first, first + BATCH_SIZE));
    });
    return running;
  };
  const sweepLater = () => {
    sweeping ??= setTimeout(() => {
      sweeping = undefined;
      const at = now();
      void settle([...allowances.values()].filter((allowance) => allowance.hasEnded(at)));
      if (allowances.size > 0) sweepLater();
    }, SWEEP_INTERVAL).unref();
  };

  return {
    sweepLater,
    refill: (allowance: Allowance) => {
      low.add(allowance);
      refilling ??= setTimeout(() => {
        refilling = undefined;
        void settle([...low]);
      }, allowance.refillDelay).unref();
    },
    close: async () => {
      clearTimeout(refilling);
      clearTimeout(sweeping);
      low.clear();
      for (const allowance of allowances.values()) allowance.close();
      await settle([...allowances.values()]);
    },
  };
}
