import Bowser from 'bowser';

/**
 * Browser family and system of a `User-Agent` header, without versions: an update of the browser
 * does not make a new device. What the library does not know (scripts, apps) is compared by its
 * whole text without the numbers.
 *
 * @example
 * // 'Firefox on Linux'
 * deviceKind('Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0');
 */
export function deviceKind(userAgent: string): string {
  const { browser, os } = userAgent ? Bowser.parse(userAgent) : { browser: {}, os: {} };
  if (browser?.name && os?.name) return `${browser.name} on ${os.name}`;
  return userAgent.replace(/[\d.]+/g, '').trim();
}
