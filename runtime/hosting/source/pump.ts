/** A writable stream, of Node or of streamx. */
interface Sink extends NodeJS.EventEmitter {
  readonly destroyed: boolean;
  write(chunk: Buffer): boolean;
}

/**
 * Writes every chunk into a stream at the stream's speed, and stops when the stream is destroyed.
 * It does not end the stream.
 */
export async function pump(chunks: AsyncIterable<Buffer>, sink: Sink): Promise<void> {
  for await (const chunk of chunks) {
    if (sink.destroyed) return;
    if (!sink.write(chunk)) await drained(sink);
    if (sink.destroyed) return;
  }
}

const EVENTS = ['drain', 'close', 'error', 'finish'];

function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) sink.off(event, done);
      resolve();
    };
    for (const event of EVENTS) sink.on(event, done);
  });
}
