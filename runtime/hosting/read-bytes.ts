import { failure } from '@twofold/runtime/errors';

/**
 * Reads a stream to its end.
 *
 * @param max Bytes. @throws AppError 413 with this message when there are more.
 */
export async function readBytes(
  stream: AsyncIterable<Buffer>,
  max = Infinity,
  message?: string,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > max) throw failure.tooLarge(message);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
