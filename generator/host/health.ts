import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';

/** What the server says of itself. */
export interface HostHealth {
  readonly status: string;
  readonly ingress?: string;
  readonly engine?: string | null;
  readonly version?: string;
}

/** Milliseconds in which an installed server must answer: migrations may take a while. */
const START_WITHIN = 120_000;
const PAUSE = 250;

/** The server's own address, behind the ingress. */
export function localUrl(env: string): string {
  return `http://127.0.0.1:${parseEnv(env)['PORT'] ?? 8080}`;
}

/** @returns null when nothing answers. */
export async function askHealth(url: string): Promise<HostHealth | null> {
  try {
    const response = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(5000) });
    return (await response.json()) as HostHealth;
  } catch {
    return null;
  }
}

/**
 * @param hasFailed whether waiting is of no use.
 * @returns null when the server is not healthy in time.
 */
export async function untilHealthy(
  url: string,
  hasFailed: () => Promise<boolean>,
): Promise<HostHealth | null> {
  for (const end = Date.now() + START_WITHIN; Date.now() < end; await sleep(PAUSE)) {
    const health = await askHealth(url);
    if (health?.status === 'ok') return health;
    if (await hasFailed()) return null;
  }
  return null;
}
