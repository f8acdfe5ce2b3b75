/**
 * Iterates a stream of tar-stream without closing it at an early end. The stream would wait for its
 * own close, which may never come while the other side of the archive is being destroyed. The code
 * that made the archive destroys it.
 */
export function unclosed<T>(chunks: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = chunks[Symbol.asyncIterator]();
      return { next: () => iterator.next() };
    },
  };
}
