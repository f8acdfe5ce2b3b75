import { createGunzip } from 'node:zlib';
import { failure } from '@twofold/runtime/errors';
import { pump } from '../archives/chunks.ts';
import { refuse } from '../archives/refuse.ts';

export interface UnpackLimits {
  /** The most bytes to read. */
  readonly compressed: number;
  /** The most bytes to return. */
  readonly total: number;
  /** How many times larger the output may be than the input. */
  readonly ratio: number;
}

/** Bytes. Below this size of the output the ratio is not checked. */
const RATIO_FROM = 16 * 1024 * 1024;

/**
 * Unpacks gzip as a stream, and stops when the output becomes too large.
 *
 * @throws AppError 413 when the input is too large, 422 when it is not gzip, is damaged, or grows
 * too much.
 */
export async function* unpack(
  chunks: AsyncIterable<Buffer>,
  limits: UnpackLimits,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  let taken = 0;
  let given = 0;
  const checked = async function* () {
    for await (const chunk of chunks) {
      if (taken === 0 && chunk.length > 0 && chunk[0] !== 0x1f)
        throw refuse('The source is not a gzip archive');
      taken += chunk.length;
      if (taken > limits.compressed)
        throw failure.tooLarge(`The archive is larger than ${limits.compressed} bytes`);
      yield chunk;
    }
  };
  const feed = pump(checked(), gunzip).then(
    () => void gunzip.end(),
    (error: Error) => void gunzip.destroy(error),
  );
  try {
    for await (const chunk of gunzip) {
      given += (chunk as Buffer).length;
      if (given > limits.total) throw refuse(`The archive holds more than ${limits.total} bytes`);
      if (given > RATIO_FROM && given > taken * limits.ratio)
        throw refuse(`The archive grows more than ${limits.ratio} times`);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw isZlib(error) ? refuse('The archive is damaged or no gzip archive') : error;
  } finally {
    gunzip.destroy();
    await feed;
  }
}

const isZlib = (error: unknown) => /^Z_|^ERR_ZLIB/.test(String((error as { code?: string }).code));
