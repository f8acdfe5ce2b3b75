import Bowser from 'bowser';

/**
 * Browser family and system of a `User-Agent` header, without versions: an update of the browser
 * does not count as a new device. For an agent that the library does not know (a script, an app)
 * this is the whole text without its numbers.
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
