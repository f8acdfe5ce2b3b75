import { X509Certificate } from 'node:crypto';

/**
 * When the CA wants a certificate to be renewed (a moment in the window that it suggests), and when
 * to ask it again.
 */
export interface Renewal {
  readonly at: number;
  readonly askAgain: number;
}

interface Directory {
  readonly renewalInfo?: string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Milliseconds until the next question when the response has no `Retry-After`. */
const SIX_HOURS = DAY / 4;

/**
 * Asks the CA when to renew a certificate (RFC 9773). That may be earlier than planned, for example
 * before the CA revokes it. The moment is random within the CA's window, so that not all servers
 * renew at once.
 *
 * @returns `at` is NaN when the CA does not support this.
 */
export async function askRenewal(
  certificate: string,
  options: {
    readonly directory: string;
    readonly signal: AbortSignal;
    readonly now: number;
    readonly fetch?: typeof fetch;
  },
): Promise<Renewal> {
  const { signal, now, fetch: send = fetch } = options;
  const { renewalInfo } = (await (await send(options.directory, { signal })).json()) as Directory;
  const id = certificateId(certificate);
  if (renewalInfo === undefined || id === null) return { at: Number.NaN, askAgain: now + DAY };
  const answer = await send(`${renewalInfo}/${id}`, { signal });
  const { suggestedWindow } = (await answer.json()) as {
    suggestedWindow?: { readonly start?: string; readonly end?: string };
  };
  const [start, end] = [suggestedWindow?.start, suggestedWindow?.end].map((time) =>
    Date.parse(time ?? ''),
  ) as [number, number];
  const seconds = Number(answer.headers.get('retry-after'));
  const pause = seconds > 0 ? Math.min(DAY, Math.max(MINUTE, seconds * 1000)) : SIX_HOURS;
  return { at: start + Math.random() * Math.max(0, end - start), askAgain: now + pause };
}

/**
 * The extension 2.5.29.35 up to its first field, the key identifier. Its lengths (X.690) have one
 * or two bytes.
 */
const AUTHORITY_KEY = /0603551d23(?:0101ff)?04(?:81)?..30(?:81)?..80(..)/;

/**
 * The name of a certificate in RFC 9773 §4.1: the identifier of its issuer's key, and its serial
 * number. Null when it has no such identifier.
 */
export function certificateId(certificate: string): string | null {
  const { raw, serialNumber } = new X509Certificate(certificate);
  const hex = raw.toString('hex');
  const found = AUTHORITY_KEY.exec(hex);
  if (!found) return null;
  const begin = found.index + found[0].length;
  const key = hex.slice(begin, begin + 2 * Number.parseInt(found[1] as string, 16));
  // In DER, a first byte of 0x80 or more would make the number negative, so DER adds a zero byte.
  const serial = /^[89A-F]/.test(serialNumber) ? `00${serialNumber}` : serialNumber;
  return [key, serial].map((text) => Buffer.from(text, 'hex').toString('base64url')).join('.');
}
