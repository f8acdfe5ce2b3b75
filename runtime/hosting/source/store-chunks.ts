import { open } from 'node:fs/promises';

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
