import { AppError } from '@twofold/runtime/errors';
import type { LocalModel } from '../model.ts';
import type { Gpu } from './gpus.ts';

/** Whether there is memory for a model beside those that are loaded. */
export interface Room {
  fits(model: LocalModel, loaded: readonly Loaded[]): boolean;
  /** The error if there is not enough memory even without the loaded models. */
  problem(model: LocalModel, loaded: readonly Loaded[]): AppError | null;
  /** Reads the figures of the graphics cards again. */
  look(): Promise<unknown>;
}

/** A model that is in memory, or on its way there. */
export interface Loaded {
  readonly model: LocalModel;
  /** Whether the machine's figures of free memory have it already. A model that is loading grows. */
  readonly isSeen: boolean;
  /** Absent where the engine does not say it. */
  readonly layersOnGpu?: number | undefined;
}

export interface RoomOptions {
  /** Bytes that are available without swapping. */
  readonly memory: () => number;
  /** Bytes of the machine. */
  readonly total: () => number;
  /** The cards that have memory of their own. */
  readonly gpus: () => readonly Gpu[];
  readonly look: () => Promise<unknown>;
  /** The most bytes for models; `auto` is what there is. */
  readonly limits: { readonly memory: 'auto' | number; readonly gpuMemory: 'auto' | number };
}

/** Bytes of the machine and of its graphics cards. */
interface Bytes {
  readonly ram: number;
  readonly gpu: number;
}

/**
 * Counts the memory of the machine and of its graphics cards. Layers that do not fit into a card
 * stay in the memory of the machine, so only their sum has to be enough. What the loaded models
 * take is counted against the limits, because the system calls pages of their files available.
 */
export function createRoom({ memory, total, gpus, look, limits }: RoomOptions): Room {
  const sumOf = (name: 'free' | 'total') => gpus().reduce((sum, gpu) => sum + gpu[name], 0);
  const limit = (): Bytes => ({
    ram: limits.memory === 'auto' ? total() : Math.min(total(), limits.memory),
    gpu: limits.gpuMemory === 'auto' ? sumOf('total') : Math.min(sumOf('total'), limits.gpuMemory),
  });
  const free = (): Bytes => ({ ram: memory(), gpu: sumOf('free') });
  return {
    look,
    fits(model, loaded) {
      const most = limit();
      const now = free();
      const taken = takenBy(loaded, most.gpu);
      const coming = takenBy(
        loaded.filter(({ isSeen }) => !isSeen),
        now.gpu,
      );
      const ram = Math.min(now.ram - coming.ram, most.ram - taken.ram);
      const gpu = Math.min(now.gpu - coming.gpu, most.gpu - taken.gpu);
      return memoryFor(model) <= ram + gpu;
    },
    problem(model, loaded) {
      const most = limit();
      const now = free();
      const back = freedBy(loaded, sumOf('total') - now.gpu);
      const ram = Math.min(now.ram + back.ram, most.ram);
      const gpu = Math.min(now.gpu + back.gpu, most.gpu);
      return memoryFor(model) <= ram + gpu ? null : notEnough(model, { ram, gpu });
    },
  };
}

/** What models take. Engines fill the cards first, and what these cannot hold is in RAM. */
function takenBy(loaded: readonly Loaded[], gpuRoom: number): Bytes {
  const sum = (models: readonly Loaded[]) =>
    models.reduce((bytes, { model }) => bytes + memoryFor(model), 0);
  const gpu = Math.min(gpuRoom, sum(loaded.filter(({ layersOnGpu }) => layersOnGpu !== 0)));
  return { ram: sum(loaded) - gpu, gpu };
}

/** What models give back when they are unloaded: their weights, of which the cards have some. */
function freedBy(loaded: readonly Loaded[], gpuUsed: number): Bytes {
  const sum = (models: readonly Loaded[]) => models.reduce((all, { model }) => all + model.size, 0);
  const gpu = Math.min(gpuUsed, sum(loaded.filter(({ layersOnGpu }) => layersOnGpu !== 0)));
  return { ram: sum(loaded) - gpu, gpu };
}

function notEnough({ id, size }: LocalModel, { ram, gpu }: Bytes): AppError {
  return new AppError(
    507,
    'MEMORY',
    `Not enough memory: ${id} needs about ${gigabytes(memoryFor({ size }))}; ` +
      `${gigabytes(ram)} of RAM and ${gigabytes(gpu)} of GPU memory can be had: ` +
      'take a smaller one, or end other programs',
  );
}

/** Bytes that a model needs in addition to its weights, for the engine and its buffers. */
const OVERHEAD_BYTES = 256 * 1024 * 1024;
/** Factor on the size of the weights, for the context cache at our context sizes. */
const WEIGHTS_FACTOR = 1.2;

/** An estimate of what a model needs in memory, in bytes. */
const memoryFor = ({ size }: Pick<LocalModel, 'size'>): number =>
  Math.ceil(size * WEIGHTS_FACTOR) + OVERHEAD_BYTES;

/** A size for people. */
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
