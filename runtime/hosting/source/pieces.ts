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
