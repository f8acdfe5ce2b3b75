import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * A port of the loopback for a program that has to be told one. It is free now and stays so: it lies below those that the
 * kernel hands out to whoever asks for any, so that no server or connection of another test is given it meanwhile.
 *
 * @example
 * const port = await freePort();
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, firstOfAny());
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens there. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The first port that the kernel hands out. */
function firstOfAny(): number {
  try {
    return Math.max(
      12_000,
      Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10),
    );
  } catch {
    return 32_768;
  }
}
