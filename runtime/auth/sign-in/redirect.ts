import { failure } from '@twofold/runtime/errors';
import { isAnyPort, isAppAddress } from '@twofold/schema';

/**
 * Checks the address at which a flow ends: a path of this server, an address whose origin the
 * manifest lists, or an address of an application. Another application may listen there as well, so
 * that flow needs a code challenge.
 *
 * @throws AppError 400 `Invalid redirect`
 */
export function checkReturnTo(
  text: string | undefined,
  allowed: readonly string[],
  codeChallenge?: string | null,
): string | null {
  if (text === undefined || text === '') return null;
  if (isLocalPath(text)) return text;
  if (isAppAddress(text) && allowed.includes(text) && codeChallenge) return text;
  if (isCleanAddress(text)) {
    const { origin, username, protocol, hostname } = new URL(text);
    const anyPort = `${protocol}//${hostname}`;
    const listed =
      allowed.includes(origin) ||
      (codeChallenge && isAnyPort(anyPort) && allowed.includes(anyPort));
    if (listed && username === '') return text;
  }
  throw failure.badRequest('Invalid redirect');
}

/** Only one slash may come first: browsers read `//host` and `/\host` as another server. */
function isLocalPath(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^\/(?![/\\])[^\u0000-\u0020\u007f\\]*$/.test(text);
}

/** Adds a query parameter before the fragment. */
export function withParameter(target: string, name: string, value: string): string {
  const [head = '', fragment] = target.split(/#(.*)/s);
  const separator = head.includes('?') ? '&' : '?';
  return `${head}${separator}${name}=${encodeURIComponent(value)}${fragment === undefined ? '' : `#${fragment}`}`;
}

function isCleanAddress(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  const clean = !/[\u0000-\u0020\u007f\\]/.test(text);
  return clean && /^https?:\/\//.test(text) && URL.canParse(text);
}
