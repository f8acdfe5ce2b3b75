import { createGunzip } from 'node:zlib';
import { failure } from '@twofold/runtime/errors';
import { refuse } from './refuse.ts';

export interface UnpackLimits {
  /** Bytes that may come in. */
  readonly compressed: number;
  /** Bytes that may come out. */
  readonly total: number;
  /** How many times larger the output may be than the input. */
  readonly ratio: number;
}

/** Below this much output a ratio says nothing. */
const RATIO_FROM = 16 * 1024 * 1024;

/**
 * Unpacks gzip as it comes in, and gives up on what grows too much.
 *
 * @throws AppError 413 when too much comes in, 422 when it is no gzip, damaged, or a bomb.
 */
export async function* unpack(
  chunks: AsyncIterable<Buffer>,
  limits: UnpackLimits,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  let taken = 0;
  let given = 0;
  const feed = (async () => {
    let first = true;
    for await (const chunk of chunks) {
      taken += chunk.length;
      if (taken > limits.compressed)
        throw failure.tooLarge(`The archive is larger than ${limits.compressed} bytes`);
      if (first && chunk.length > 0 && chunk[0] !== 0x1f)
        throw refuse('The source is not a gzip archive');
      first &&= chunk.length === 0;
      if (!gunzip.write(chunk)) await drained(gunzip);
      if (gunzip.destroyed) return;
    }
    gunzip.end();
  })().catch((error: Error) => void gunzip.destroy(error));
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

function drained(stream: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close', 'error']) stream.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error']) stream.on(event, done);
  });
}
