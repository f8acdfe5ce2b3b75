import { t } from '../messages.ts';
import { formatDuration } from './time.tsx';

/** What the server says of a request that it refused. */
export interface Refused {
  readonly text: string;
  /** Seconds after which the request may be sent again; undefined when the server does not say. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | null;
}

/** Reads a refusal. `answer` is the body, as far as it is JSON. */
export const readRefusal = ({ status, headers }: Response, answer: unknown): Refused => ({
  text: (answer as { error?: string } | null)?.error ?? `HTTP ${status}`,
  retryAfter: secondsOf(headers.get('Retry-After')),
  requestId: headers.get('X-Request-Id'),
});

const secondsOf = (given: string | null): number | undefined =>
  given !== null && /^\d+$/.test(given) ? Number(given) : undefined;

/**
 * The text of a refusal: the server's message, when to try again, and the id of the request in the
 * server's log.
 *
 * @example
 * refusalText({ text: 'Too many requests', retryAfter: 900, requestId: '01J…' });
 * // 'Too many requests. Try again in 15 min (request 01J…)'
 */
export function refusalText({ text, retryAfter, requestId: id }: Refused): string {
  const wait = retryAfter === undefined ? '' : formatDuration(retryAfter);
  const told = wait === '' ? text : t('{text}. Try again in {wait}', { text, wait });
  return id === null ? told : t('{text} (request {id})', { text: told, id });
}
