import { AppError } from '@twofold/runtime/errors';
import { type EngineError, toEngineError } from '../errors.ts';
import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * Podman's errors when any image was removed while it read the image store, or any container while
 * it counted what all hold; and Docker's as long as two networks have one name (`ensureNetwork`).
 */
const RACE_MESSAGES =
  /(image|layer) not known|consider removing the image|remove the image to resolve the error|failed to get .+ of container|is ambiguous/;
const MAX_ATTEMPTS = 6;

/**
 * Retries a call that failed because of what another process did meanwhile. Podman's builds, lists
 * and prunes read every image of the store, and the whole call fails when one of them disappears.
 *
 * @example
 * const images = await retryOnRace(() => client.listImages());
 */
export async function retryOnRace<T>(
  work: () => Promise<T>,
  { again = () => {}, stop = () => false }: { again?: () => void; stop?: () => boolean } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || stop() || !RACE_MESSAGES.test(toEngineError(error).message))
        throw error;
      again();
      await sleep(50 * attempt);
    }
  }
}
