/** One hit that is asked for: at most `limit` in any `window` milliseconds under `key`. */
export interface Charge {
  readonly key: string;
  readonly limit: number;
  readonly window: number;
  /** Only look: the hit itself is charged later, or never. */
  readonly peek?: boolean;
}

/** How a key stands after a charge. */
export interface WindowState {
  readonly accepted: boolean;
  readonly remaining: number;
  /** Milliseconds until the oldest hit leaves the window; 0 when there is none. */
  readonly resetIn: number;
}

/**
 * Exact sliding windows: a hit is accepted iff fewer than `limit` accepted hits lie in (now − window, now]. Rejected
 * hits are not recorded. Several charges pass together or not at all.
 */
export interface Windows {
  consume(charges: readonly Charge[], now: number): Promise<readonly WindowState[]>;
  /** Takes back hits that were accepted at `at`. */
  refund(charges: readonly Charge[], at: number): Promise<void>;
}

/** The last accepted times of one key, oldest at `head`. It grows up to `limit`: most keys are seen a few times only. */
interface Ring {
  readonly limit: number;
  readonly window: number;
  times: Float64Array;
  head: number;
  count: number;
}

const KEYS = 50_000;
const FIRST = 8;

/** Windows in memory, for one process. The least recently used of more than 50,000 keys is forgotten. */
export function memoryWindows(capacity = KEYS): Windows {
  const rings = new Map<string, Ring>();
  const ringOf = ({ key, limit, window }: Charge): Ring => {
    const known = rings.get(key);
    const fits = known && known.limit === limit && known.window === window;
    const ring = fits ? known : { limit, window, times: new Float64Array(Math.min(limit, FIRST)), head: 0, count: 0 };
    rings.delete(key);
    rings.set(key, ring);
    if (rings.size > capacity) rings.delete(rings.keys().next().value as string);
    return ring;
  };
  return {
    consume: async (charges, now) => {
      const entries = charges.map((charge) => ({ charge, ring: ringOf(charge) }));
      for (const { ring } of entries) expire(ring, now);
      const fits = ({ ring }: { ring: Ring }) => ring.count < ring.limit;
      const all = entries.every(fits);
      return entries.map((entry) => {
        const accepted = fits(entry);
        if (all && !entry.charge.peek) push(entry.ring, now);
        return stateOf(entry.ring, now, accepted);
      });
    },
    refund: async (charges, at) => {
      for (const { key } of charges) {
        const ring = rings.get(key);
        if (ring) remove(ring, at);
      }
    },
  };
}

function expire(ring: Ring, now: number): void {
  while (ring.count > 0 && ring.times[ring.head]! <= now - ring.window) {
    ring.head = (ring.head + 1) % ring.times.length;
    ring.count -= 1;
  }
}

function push(ring: Ring, now: number): void {
  if (ring.count === ring.times.length) grow(ring);
  ring.times[(ring.head + ring.count) % ring.times.length] = now;
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
  const { times, head, count } = ring;
  const place = (index: number) => (head + index) % times.length;
  for (let index = count - 1; index >= 0; index -= 1) {
    if (times[place(index)] !== at) continue;
    for (let next = index + 1; next < count; next += 1) times[place(next - 1)] = times[place(next)]!;
    ring.count -= 1;
    return;
  }
}

function stateOf({ limit, times, head, count, window }: Ring, now: number, accepted: boolean): WindowState {
  return { accepted, remaining: limit - count, resetIn: count > 0 ? Math.max(0, times[head]! + window - now) : 0 };
}
