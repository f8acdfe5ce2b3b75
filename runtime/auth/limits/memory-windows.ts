import { createBoundedCache } from '@twofold/runtime/kernel';
import type { Charge, Windows, WindowState } from './windows.ts';

/**
 * A ring buffer of the accepted times of one key, with the oldest at `head`. It grows up to
 * `limit`, because most keys have only a few hits.
 */
interface Ring {
  readonly limit: number;
  readonly window: number;
  times: Float64Array;
  head: number;
  count: number;
}

/** Bounds for all keys together. The least recently used keys are removed first. */
const CACHE_BOUNDS = { entries: 50_000, bytes: 128 * 1024 * 1024 };

/** Approximate bytes of a key without its times. */
const KEY_OVERHEAD = 200;

const FIRST_CAPACITY = 8;

/** Windows in memory, for a server with one process. */
export function memoryWindows(entries = CACHE_BOUNDS.entries): Windows {
  const rings = createBoundedCache<Ring>({ ...CACHE_BOUNDS, entries });
  const ringOf = (charge: Charge): Ring => {
    const known = rings.get(charge.key);
    if (known && isFor(known, charge)) return known;
    const ring = emptyRing(charge);
    rings.set(charge.key, ring, ring.times.byteLength + KEY_OVERHEAD);
    return ring;
  };
  const add = (key: string, ring: Ring, now: number) => {
    const { byteLength } = ring.times;
    push(ring, now);
    if (ring.times.byteLength > byteLength)
      rings.grow(key, ring, ring.times.byteLength - byteLength);
  };
  return {
    consume: (charges, now) => {
      const found = charges.map((charge) => expire(ringOf(charge), now));
      const all = found.every(fits);
      return found.map((ring, index) => {
        const { key, peek } = charges[index]!;
        const accepted = fits(ring);
        if (all && !peek) add(key, ring, now);
        return stateOf(ring, now, accepted);
      });
    },
    refund: (charges, at) => {
      for (const { key } of charges) {
        const ring = rings.get(key);
        if (ring) remove(ring, at);
      }
    },
    close: async () => {},
  };
}

const isFor = (ring: Ring, { limit, window }: Charge) =>
  ring.limit === limit && ring.window === window;

const fits = (ring: Ring) => ring.count < ring.limit;

function emptyRing({ limit, window }: Charge): Ring {
  return {
    limit,
    window,
    times: new Float64Array(Math.min(limit, FIRST_CAPACITY)),
    head: 0,
    count: 0,
  };
}

/** Drops hits that have left the window. After the clock was set back, later hits count as now. */
function expire(ring: Ring, now: number): Ring {
  if (ring.count > 0 && newestOf(ring) > now) setBack(ring, now);
  while (ring.count > 0 && ring.times[ring.head]! <= now - ring.window) {
    ring.head = (ring.head + 1) % ring.times.length;
    ring.count -= 1;
  }
  return ring;
}

const placeOf = ({ times, head }: Ring, index: number) => (head + index) % times.length;

const newestOf = (ring: Ring) => ring.times[placeOf(ring, ring.count - 1)]!;

function setBack(ring: Ring, now: number): void {
  for (let index = 0; index < ring.count; index += 1) {
    const place = placeOf(ring, index);
    ring.times[place] = Math.min(ring.times[place]!, now);
  }
}

function push(ring: Ring, now: number): void {
  if (ring.count === ring.times.length) grow(ring);
  ring.times[placeOf(ring, ring.count)] = now;
  ring.count += 1;
}

function grow(ring: Ring): void {
  const { times, head, limit } = ring;
  const wider = new Float64Array(Math.min(limit, times.length * 2));
  wider.set(times.subarray(head));
  wider.set(times.subarray(0, head), times.length - head);
  ring.times = wider;
  ring.head = 0;
}

/** Removes the newest hit at that time, and moves the newer hits up. */
function remove(ring: Ring, at: number): void {
  const { times, count } = ring;
  for (let index = count - 1; index >= 0; index -= 1) {
    if (times[placeOf(ring, index)] !== at) continue;
    for (let next = index + 1; next < count; next += 1)
      times[placeOf(ring, next - 1)] = times[placeOf(ring, next)]!;
    ring.count -= 1;
    return;
  }
}

function stateOf(
  { limit, times, head, count, window }: Ring,
  now: number,
  accepted: boolean,
): WindowState {
  return {
    accepted,
    remaining: limit - count,
    resetIn: count > 0 ? Math.max(0, times[head]! + window - now) : 0,
  };
}
