import { open } from 'node:fs/promises';

/**
 * Joins chunks into buffers of `size` bytes; the last one may be shorter. With a function, the size
 * may differ from one buffer to the next.
 */
export async function* pieces(
  chunks: AsyncIterable<Buffer>,
  size: number | ((number: number) => number),
): AsyncGenerator<Buffer> {
  for await (const parts of piecesInParts(chunks, size)) yield Buffer.concat(parts);
}

/** The same without joining: memory of that size makes work for the garbage collector. */
export async function* piecesInParts(
  chunks: AsyncIterable<Buffer>,
  size: number | ((number: number) => number),
): AsyncGenerator<Buffer[]> {
  const sizeOf = typeof size === 'number' ? () => size : size;
  let number = 0;
  let wanted = sizeOf(number);
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + wanted - length);
      held.push(part);
      at += part.length;
      length += part.length;
      if (length < wanted) continue;
      yield held;
      wanted = sizeOf((number += 1));
      held = [];
      length = 0;
    }
  if (length > 0) yield held;
}

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

/**
 * Writes a stream to a new file that only this user can read.
 *
 * @param see Sees each chunk before it is written. If it throws, nothing more is read.
 */
export async function storeChunks(
  path: string,
  chunks: AsyncIterable<Buffer>,
  see: (chunk: Buffer) => unknown,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) {
      see(chunk);
      await file.write(chunk);
    }
  } finally {
    await file.close();
  }
}
