import type { Charge, Windows, WindowState } from './windows.ts';

/** The last accepted times of one key, oldest at `head`. It grows up to `limit`: most keys are seen a few times only. */
interface Ring {
  readonly key: string;
  readonly limit: number;
  readonly window: number;
  times: Float64Array;
  head: number;
  count: number;
  /** Neighbours by when they were last used. */
  older: Ring | null;
  newer: Ring | null;
}

const KEYS = 50_000;
const FIRST = 8;

/** Windows in memory, for one process. The least recently used of more than 50,000 keys is forgotten. */
export function memoryWindows(capacity = KEYS): Windows {
  const rings = createRings(capacity);
  return {
    consume: (charges, now) => {
      const found = charges.map((charge) => expire(rings.take(charge), now));
      const all = found.every(fits);
      return found.map((ring, index) => {
        const accepted = fits(ring);
        if (all && !charges[index]!.peek) push(ring, now);
        return stateOf(ring, now, accepted);
      });
    },
    refund: (charges, at) => {
      for (const { key } of charges) {
        const ring = rings.find(key);
        if (ring) remove(ring, at);
      }
    },
    close: async () => {},
  };
}

/** Rings by key, in a list from the most to the least recently used: a map that is written on every hit would be rebuilt again and again. */
function createRings(capacity: number) {
  const rings = new Map<string, Ring>();
  let [newest, oldest] = [null, null] as [Ring | null, Ring | null];
  const unlink = (ring: Ring) => {
    if (ring.newer) ring.newer.older = ring.older;
    else newest = ring.older;
    if (ring.older) ring.older.newer = ring.newer;
    else oldest = ring.newer;
  };
  const putFirst = (ring: Ring) => {
    ring.newer = null;
    ring.older = newest;
    if (newest) newest.newer = ring;
    newest = ring;
    oldest ??= ring;
  };
  return {
    find: (key: string) => rings.get(key),
    take: (charge: Charge): Ring => {
      const known = rings.get(charge.key);
      if (known && known === newest && isFor(known, charge)) return known;
      if (known) unlink(known);
      const ring = known && isFor(known, charge) ? known : emptyRing(charge);
      if (ring !== known) rings.set(charge.key, ring);
      putFirst(ring);
      if (rings.size > capacity && oldest) {
        rings.delete(oldest.key);
        unlink(oldest);
      }
      return ring;
    },
  };
}

const isFor = (ring: Ring, { limit, window }: Charge) =>
  ring.limit === limit && ring.window === window;

const fits = (ring: Ring) => ring.count < ring.limit;

function emptyRing({ key, limit, window }: Charge): Ring {
  return {
    key,
    limit,
    window,
    times: new Float64Array(Math.min(limit, FIRST)),
    head: 0,
    count: 0,
    older: null,
    newer: null,
  };
}

/** Drops the hits that have left the window. After a step of the clock back the later ones count as hits of now. */
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

/** Takes the newest hit of that time out; younger ones move up. */
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
