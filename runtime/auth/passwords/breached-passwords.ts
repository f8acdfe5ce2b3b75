import type { AuthModel } from '@twofold/schema';
import { failure, InternalError } from '@twofold/runtime/errors';
import { type Kernel, systemContext } from '@twofold/runtime/kernel';
import type { AuthHooks } from '../auth-hooks.ts';
import { SECOND } from '../base/time.ts';

/** Returns the other hex digits of the SHA-1 of all breached passwords that begin with `prefix`. */
export type Breached = (prefix: string) => readonly string[] | Promise<readonly string[]>;

const TIME_LIMIT = 2 * SECOND;
/** A range of Have I Been Pwned has some 40 KiB, padded to 80. */
const MAX_BYTES = 1024 * 1024;

/**
 * Asks the list of `auth.password.breached` and the hook `breachedPasswords`; undefined without
 * both. The five digits of the prefix are all that leaves the server (k-anonymity).
 */
export function breachedBy(
  kernel: Kernel,
  { breached }: AuthModel['password'],
  { breachedPasswords }: AuthHooks,
): Breached | undefined {
  const sources = [
    ...(breached ? [listed(kernel, breached)] : []),
    ...(breachedPasswords ? [hooked(kernel, breachedPasswords)] : []),
  ];
  if (sources.length === 0) return undefined;
  return async (prefix) => (await Promise.all(sources.map((source) => source(prefix)))).flat();
}

/** The list at an address, in the form of Have I Been Pwned: `SUFFIX:COUNT` on each line. */
function listed(
  { log }: Kernel,
  { url, onFailure }: NonNullable<AuthModel['password']['breached']>,
): Breached {
  return async (prefix) => {
    try {
      return suffixesIn(await readRange(url + prefix));
    } catch (error) {
      log.warn(
        { reason: reasonOf(error) },
        'the list of breached passwords did not answer: ' +
          `the password was ${onFailure === 'allow' ? 'taken without it' : 'refused'}`,
      );
      if (onFailure === 'allow') return [];
      throw failure.unavailable(undefined, { headers: { 'Retry-After': '10' } });
    }
  };
}

/** @throws when the list does not answer 200 within two seconds and 1 MiB, or redirects. */
async function readRange(url: string): Promise<string> {
  const response = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(TIME_LIMIT),
    // With padding, somebody who sees only the size of the response cannot tell which prefix was
    // sent.
    headers: { 'Add-Padding': 'true', 'User-Agent': 'twofold' },
  });
  if (response.status !== 200 || !response.body)
    throw new InternalError(`the list of breached passwords answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new InternalError('the list of breached passwords is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('latin1');
}

/** Lines with the count 0 are padding. Any other text than such lines is not a range. */
function suffixesIn(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  return lines.flatMap((line) => {
    const [, suffix, count] = /^([0-9A-Fa-f]{35}):(\d+)$/.exec(line.trim()) ?? [];
    if (suffix === undefined)
      throw new InternalError('the list of breached passwords sent something else than a range');
    return Number(count) > 0 ? [suffix] : [];
  });
}

function hooked(
  kernel: Kernel,
  breachedPasswords: NonNullable<AuthHooks['breachedPasswords']>,
): Breached {
  return async (prefix) => {
    try {
      return await breachedPasswords({ prefix, ctx: systemContext(kernel) });
    } catch (error) {
      kernel.log.warn(
        { stack: error instanceof Error ? error.stack : undefined },
        'the hook breachedPasswords failed: the password was taken without it',
      );
      return [];
    }
  };
}

/** `fetch` hides the reason in `cause`. */
const reasonOf = (error: unknown) =>
  error instanceof Error
    ? [error.message, (error.cause as Error | undefined)?.message].filter(Boolean).join(': ')
    : 'unknown';
