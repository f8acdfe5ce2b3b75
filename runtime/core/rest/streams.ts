import { failure } from '../errors.ts';

/** The most streams that one caller may have at once. */
const MOST = 2;

/** Counts the streams of each caller. */
export interface Streams {
  /** @returns what ends the stream. @throws AppError 429 */
  take(caller: string): () => void;
}

export function createStreams(): Streams {
  const open = new Map<string, number>();
  return {
    take(caller) {
      const now = open.get(caller) ?? 0;
      if (now >= MOST)
        throw failure.tooMany('Two exports are running already: wait until one ends', {
          headers: { 'Retry-After': '5' },
        });
      open.set(caller, now + 1);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        const left = (open.get(caller) ?? 1) - 1;
        if (left === 0) open.delete(caller);
        else open.set(caller, left);
      };
    },
  };
}
