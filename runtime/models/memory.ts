import type { LocalModel } from './model.ts';

/** Bytes that a model needs in addition to its weights, for the engine and its buffers. */
const OVERHEAD_BYTES = 256 * 1024 * 1024;
/** Factor on the size of the weights, for the context cache at our context sizes. */
const WEIGHTS_FACTOR = 1.2;

/** An estimate of what a model needs in memory, in bytes. */
export const memoryFor = ({ size }: Pick<LocalModel, 'size'>): number =>
  Math.ceil(size * WEIGHTS_FACTOR) + OVERHEAD_BYTES;

/** A size for people. */
export const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
