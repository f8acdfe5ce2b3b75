import { AppError } from '@twofold/runtime/errors';
import { gigabytes, memoryFor } from '../memory.ts';
import type { LocalModel } from '../model.ts';
import type { Gpu } from './gpus.ts';

/** Whether there is memory for a model beside those that are loaded. */
export interface Room {
  fits(model: LocalModel, loaded: readonly Loaded[]): boolean;
  /** The error if there is not enough memory even without the loaded models. */
  problem(model: LocalModel, loaded: readonly Loaded[]): AppError | null;
}

interface Loaded {
  readonly model: LocalModel;
}

export interface RoomOptions {
  /** Bytes that are available without swapping. */
  readonly memory: () => number;
  readonly gpus: () => readonly Gpu[];
  /** The most bytes for models; `auto` is what there is. */
  readonly limits: { readonly memory: 'auto' | number; readonly gpuMemory: 'auto' | number };
}

/**
 * Counts the memory of the machine and of its graphics cards. Layers that do not fit into a card
 * stay in the memory of the machine, so only their sum has to be enough.
 */
export function createRoom({ memory, gpus, limits }: RoomOptions): Room {
  const figures = (loaded: readonly Loaded[]) => {
    const taken = loaded.reduce((sum, { model }) => sum + memoryFor(model), 0);
    const freeOfGpus = gpus().reduce((sum, { free }) => sum + free, 0);
    const ram = limits.memory === 'auto' ? memory() : Math.min(memory(), limits.memory - taken);
    const gpu = limits.gpuMemory === 'auto' ? freeOfGpus : Math.min(freeOfGpus, limits.gpuMemory);
    return { ram: Math.max(0, ram), gpu };
  };
  return {
    fits(model, loaded) {
      const { ram, gpu } = figures(loaded);
      return memoryFor(model) <= ram + gpu;
    },
    problem(model, loaded) {
      const { gpu } = figures([]);
      const freed = loaded.reduce((sum, each) => sum + each.model.size, 0);
      const ram = Math.min(memory() + freed, limits.memory === 'auto' ? Infinity : limits.memory);
      const needed = memoryFor(model);
      if (needed <= ram + gpu) return null;
      return new AppError(
        507,
        'MEMORY',
        `Not enough memory: ${model.id} needs about ${gigabytes(needed)}; ` +
          `${gigabytes(ram)} of RAM and ${gigabytes(gpu)} of GPU memory can be had: ` +
          'take a smaller one, or end other programs',
      );
    },
  };
}
