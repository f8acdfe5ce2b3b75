import { LargeText } from './large-text.ts';
import { type AnswerLimits, type Asker, type Bounds, LimitReached } from './bounds.ts';

/** Bytes of all answers that are in progress. Memory of an asker is freed by `end`. */
export interface AnswerMemory {
  /**
   * Reserves memory for an answer of up to this many bytes. Returns a promise when it has to wait.
   */
  take(bounds: Bounds, bytes: number): void | Promise<void>;
  /** Reduces the reservation of an answer that has arrived to its actual size. */
  settle(bounds: Bounds, kept: number, bytes: number): void;
  /** Whether the asker waits for memory. */
  isWaiting(asker: Asker): boolean;
  /** Moves the memory of one asker to another, whose answer contains it. */
  pass(from: Asker, to: Asker): void;
  /** Frees the memory of an asker whose answer was sent. */
  end(asker: Asker): void;
  readonly held: number;
}

interface Waiting {
  readonly bounds: Bounds;
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
  admit(): void;
}

/** A single answer is always admitted, even when it exceeds the limit. */
export function createAnswerMemory(): AnswerMemory {
  const holds = new Map<Asker, number>();
  const waiting = new Set<Waiting>();
  let held = 0;
  const keep = (asker: Asker, bytes: number) => {
    const sum = (holds.get(asker) ?? 0) + bytes;
    held += bytes;
    if (sum > 0) holds.set(asker, sum);
    else holds.delete(asker);
    if (bytes < 0 && waiting.size > 0) admit();
  };
  const fits = ({ asker, limits }: Bounds, bytes: number) =>
    held === 0 || held + bytes <= limits.memory || holds.has(asker);
  const admit = () => {
    for (const one of waiting) {
      if (!one.bounds.asker.cancelled && !fits(one.bounds, one.bytes)) return;
      waiting.delete(one);
      one.admit();
    }
  };
  const wait = (bounds: Bounds, bytes: number) =>
    new Promise<void>((resolve, reject) => {
      const one: Waiting = {
        bounds,
        bytes,
        timer: setTimeout(() => {
          waiting.delete(one);
          reject(noRoom(bounds.limits));
        }, bounds.limits.time),
        admit: () => {
          clearTimeout(one.timer);
          if (bounds.asker.cancelled) return reject(noRoom(bounds.limits));
          keep(bounds.asker, bytes);
          resolve();
        },
      };
      waiting.add(one);
    });
  return {
    get held() {
      return held;
    },
    take: (bounds, bytes) => {
      if (waiting.size > 0 || !fits(bounds, bytes)) return wait(bounds, bytes);
      keep(bounds.asker, bytes);
      return undefined;
    },
    settle: ({ asker, sent }, kept, bytes) => {
      if (holds.has(asker)) keep(asker, (sent ? bytes : 0) - kept);
    },
    isWaiting: (asker) => [...waiting].some(({ bounds }) => bounds.asker === asker),
    pass: (from, to) => {
      const bytes = holds.get(from);
      if (bytes === undefined) return;
      keep(to, bytes);
      keep(from, -bytes);
    },
    end: (asker) => {
      if (held === 0) return;
      const bytes = holds.get(asker);
      if (bytes !== undefined) keep(asker, -bytes);
    },
  };
}

/** The error that asks the caller to try again, because memory did not become free in time. */
export function noRoom({ memory }: AnswerLimits): LimitReached {
  return new LimitReached(
    503,
    'UNAVAILABLE',
    `the answers in the making hold ${memory} bytes already: ask again`,
    { headers: { 'Retry-After': '1' }, extensions: { limit: memory } },
  );
}

/**
 * The bytes of a value or of the rows of a batch, counted as UTF-16 units: nearly all texts are
 * ASCII, with one byte each.
 */
export function bytesOf(answer: unknown): number {
  if (typeof answer === 'string') return answer.length;
  if (answer instanceof LargeText) return answer.bytes;
  if (!Array.isArray(answer)) return 0;
  return answer.reduce((sum: number, row) => sum + bytesOf(row?.j), 0);
}
