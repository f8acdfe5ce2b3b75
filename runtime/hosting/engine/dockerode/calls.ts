import { AppError } from '@twofold/runtime/errors';
import { type EngineError, toEngineError } from '../errors.ts';

/** Runs a call of dockerode and turns each error into an `EngineError`. */
export async function call<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The source of a stream that is written to the engine has refused it.
    throw error instanceof AppError ? error : toEngineError(error);
  }
}

export async function ignoring(kinds: readonly string[], work: () => Promise<void>): Promise<void> {
  await call(work).catch((error: EngineError) => {
    if (!kinds.includes(error.kind)) throw error;
  });
}

export async function nullIfNotFound<T>(work: () => Promise<T>): Promise<T | null> {
  return await call(work).catch((error: EngineError) => {
    if (error.kind === 'not_found') return null;
    throw error;
  });
}

export const pairs = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([key, value]) => `${key}=${value}`);
