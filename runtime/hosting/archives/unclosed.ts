/**
 * Iterates a stream of tar-stream without closing it at an early end. The stream would wait for its
 * own close, which may never come while the other side of the archive is being destroyed. The code
 * that made the archive destroys it.
 *
 * @param describe What to throw in place of an error of the stream.
 */
export function unclosed<T>(
  chunks: AsyncIterable<T>,
  describe: (error: Error) => Error = (error) => error,
): AsyncIterable<T> {
  const fail = (error: Error) => {
    throw describe(error);
  };
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = chunks[Symbol.asyncIterator]();
      return { next: () => iterator.next().catch(fail) };
    },
  };
}
