import { isIP } from 'node:net';
import type { AuthModel } from '@twofold/schema';
import type { Settings } from '@twofold/runtime/kernel';

/** The site that passkeys belong to (WebAuthn Level 3 section 4, "Relying Party"). */
export interface RelyingParty {
  /** The domain. A passkey works on it and on every domain below it. */
  readonly id: string;
  /** The origins whose pages may use the passkeys. */
  readonly origins: readonly string[];
}

/**
 * Reads and checks `auth.passkeys`; null when passkeys are off. A browser would refuse a wrong
 * `rp_id` or origin with an error that names neither, so both are checked at the start.
 */
export function readRelyingParty(
  settings: Pick<Settings, 'problem'>,
  { passkeys }: AuthModel,
  appUrl: string,
): RelyingParty | null {
  if (passkeys === false || !URL.canParse(appUrl)) return null;
  const { hostname, origin } = new URL(appUrl);
  const id = passkeys.rpId ?? hostname;
  if (!isBelow(hostname, id))
    settings.problem(
      `auth.passkeys.rp_id is ${id}, and the host of APP_URL is ${hostname}: ` +
        'set rp_id to that host, or to a domain above it',
    );
  const more = passkeys.origins.filter((text) => {
    const fits = isOrigin(text) && isBelow(new URL(text).hostname, id);
    if (!fits)
      settings.problem(
        `auth.passkeys.origins: ${text} has to be an origin such as https://www.${id}, on ${id} or below it`,
      );
    return fits;
  });
  return { id, origins: [origin, ...more] };
}

/** Whether browsers accept this relying party: they accept names, and no IP addresses. */
export const isUsable = ({ id }: RelyingParty): boolean => isIP(id.replace(/^\[|\]$/g, '')) === 0;

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return origin === text && (protocol === 'https:' || (protocol === 'http:' && isLocal));
}

const isBelow = (host: string, domain: string): boolean =>
  host === domain || (host.endsWith(`.${domain}`) && domain !== '');
