import { AppError } from '@twofold/runtime/errors';
import type { LocalModel } from './model.ts';

/** Bytes that a model takes beside its weights: the context's cache, buffers, the engine itself. */
const BESIDE = 256 * 1024 * 1024;
/** What of the weights the cache and buffers take with the contexts we give. */
const GROWTH = 1.2;

/** An estimate of what a model needs in memory, in bytes. */
export const memoryFor = ({ size }: Pick<LocalModel, 'size'>): number =>
  Math.ceil(size * GROWTH) + BESIDE;

/**
 * Refuses a model that would push this machine into swapping, or its neighbours out.
 *
 * @param available Bytes that can be had without swapping; `process.availableMemory()` knows the
 * limits of a container.
 * @param freed What the model that runs now will give back.
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
