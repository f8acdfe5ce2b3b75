import { AppError } from '@twofold/runtime/errors';
import type { LocalModel } from './model.ts';

/** Bytes that a model needs in addition to its weights, for the engine and its buffers. */
const OVERHEAD_BYTES = 256 * 1024 * 1024;
/** Factor on the size of the weights, for the context cache at our context sizes. */
const WEIGHTS_FACTOR = 1.2;

/** An estimate of what a model needs in memory, in bytes. */
export const memoryFor = ({ size }: Pick<LocalModel, 'size'>): number =>
  Math.ceil(size * WEIGHTS_FACTOR) + OVERHEAD_BYTES;

/**
 * Refuses a model that would make this machine swap or run out of memory.
 *
 * @param available Bytes that are available without swapping. `process.availableMemory()` respects
 * the limits of a container.
 * @param freed The running model, whose memory will be freed.
 * @throws AppError 507
 */
export function assertMemory(model: LocalModel, available: number, freed: LocalModel | null): void {
  const needed = memoryFor(model);
  const room = available + (freed?.size ?? 0);
  if (needed <= room) return;
  throw new AppError(
    507,
    'MEMORY',
    `Not enough memory: ${model.id} needs about ${gigabytes(needed)} and ${gigabytes(room)} can be had: take a smaller one, or end other programs`,
  );
}

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
