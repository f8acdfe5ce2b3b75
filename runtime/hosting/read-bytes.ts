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

/**
 * Reads a document.
 *
 * @param name names it in the errors. @throws AppError 413, 400 when it is not JSON.
 */
export async function readJson(
  name: string,
  stream: AsyncIterable<Buffer>,
  max: number,
): Promise<unknown> {
  const bytes = await readBytes(stream, max, `${name} is too large`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw failure.badRequest(`${name} is not valid JSON`);
  }
}
