import { setTimeout as sleep } from 'node:timers/promises';
import { toEngineError } from '../errors.ts';

/** What Podman says that came upon an image of anyone's while it was removed. */
const DISTURBED =
  /(image|layer) not known|consider removing the image|remove the image to resolve the error/;
const ATTEMPTS = 6;

/**
 * Podman's builds, lists and prunes look at every image of the store, and fail as a whole when one
 * of them is removed at that moment. They did nothing wrong, and are begun anew.
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
      if (attempt === ATTEMPTS || stop() || !DISTURBED.test(toEngineError(error).message))
        throw error;
      again();
      await sleep(50 * attempt);
    }
  }
}
