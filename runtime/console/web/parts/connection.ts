import { signal } from '@preact/signals';
import { base } from '../address.ts';

/** Whether the server answered the last request. */
export const reachable = signal(true);

/** How often the connection came back. Pages read their data again when this number grows. */
export const returns = signal(0);

/** Seconds that the server asked to wait for, while a request waits; 0 otherwise. */
export const waiting = signal(0);

/** Milliseconds before each try while something is lost. The contract allows 3 s in all. */
const EVERY = 1000;

/**
 * Milliseconds without an answer after which a visible page asks whether the server can be reached.
 */
const SILENCE = 5000;

let trying = false;
let heard = Date.now();

/** Says that the server answered. */
export function hear(): void {
  heard = Date.now();
}

/** Asks a server that has been silent whether it is there, from now on. */
export function watchConnection(): void {
  setInterval(() => {
    if (trying || document.hidden || Date.now() - heard < SILENCE) return;
    void answers().then((there) => (there ? hear() : lost()));
  }, SILENCE / 2);
}

/** Notes that a request got no answer. The server is asked repeatedly until it answers again. */
export function lost(): void {
  reachable.value = false;
  if (trying) return;
  trying = true;
  void waitForReturn();
}

async function waitForReturn(): Promise<void> {
  do await new Promise((done) => setTimeout(done, EVERY));
  while (!(await answers()));
  trying = false;
  reachable.value = true;
  returns.value += 1;
}

/**
 * Waits until the server answers again, after a connection to it broke.
 *
 * @throws the reason of `leaving` when it aborts
 */
export async function untilBack(leaving: AbortSignal): Promise<void> {
  lost();
  await new Promise<void>((resolve) => {
    leaving.addEventListener('abort', () => resolve(), { once: true });
    reachable.subscribe((back) => back && resolve());
  });
  leaving.throwIfAborted();
}

/** Whether the server answers. While it starts it sends 503, which does not count. */
async function answers(): Promise<boolean> {
  const options = { method: 'HEAD', credentials: 'omit', cache: 'no-store' } as const;
  const response = await fetch(`${base}/`, options).catch(() => null);
  return response !== null && response.status < 500;
}

/** Waits until the server takes requests again, and shows that it waits. */
export async function waitFor(seconds: number, signal?: AbortSignal): Promise<void> {
  waiting.value = Math.max(waiting.value, seconds);
  await new Promise<void>((done) => {
    const timer = setTimeout(done, seconds * 1000);
    signal?.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true });
  });
  waiting.value = 0;
  signal?.throwIfAborted();
}
