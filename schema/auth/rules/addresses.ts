import { finding, type Rule } from '../../rules/finding.ts';
import { proxyFindings } from '../../rules/server-addresses.ts';
import { isOrigin, isSafeUrl } from '../../rules/urls.ts';

/** ADDRESS_INVALID: the addresses in the auth section must be valid. */
export const addresses: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  if (!values.auth) return;
  yield* proxyFindings(facts.manifest, 'auth', values.auth.trustedProxies ?? []);
  const { breached } = values.auth.password;
  if (breached && !isSafeUrl(breached.url))
    yield finding('ADDRESS_INVALID', at(['auth', 'password', 'breached', 'url']), {
      summary: `The list of breached passwords ${breached.url} is no https address`,
      fix: 'https://…/range/',
    });
  const { passkeys } = values.auth;
  for (const [index, origin] of (typeof passkeys === 'object' ? passkeys.origins : []).entries()) {
    if (!isOrigin(origin) || !isSafeUrl(origin))
      yield finding('ADDRESS_INVALID', at(['auth', 'passkeys', 'origins', index]), {
        summary: `${origin} is no https origin, so its pages cannot use passkeys`,
        fix: 'https://www.shop.example',
      });
  }
  for (const [index, address] of values.auth.oauth.returnTo.entries()) {
    if (!isReturnTo(address))
      yield finding('ADDRESS_INVALID', at(['auth', 'oauth', 'return_to', index]), {
        summary: `No sign-in can end at ${address}`,
        why: 'an entry is an origin, without a path, or the whole address of an application',
        fix: 'https://app.shop.example, myapp://callback or http://127.0.0.1 (any port)',
      });
  }
  for (const [index, { url }] of values.auth.events.webhooks.entries()) {
    if (!isSafeUrl(url))
      yield finding('ADDRESS_INVALID', at(['auth', 'events', 'webhooks', index, 'url']), {
        summary: `The webhook ${url} is no https address`,
        fix: 'https://…',
      });
  }
};

/** Schemes that run or show what stands in the address. */
const HOSTILE = /^(?:javascript|data|vbscript|blob|file|about|view-source):/i;

/** `myapp://callback`, `com.example.app:/callback`: an address of an application on a device (RFC 8252 section 7.1). */
export const isAppAddress = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/[^\s\\#]*$/i.test(text) &&
  !/^https?:/i.test(text) &&
  !HOSTILE.test(text) &&
  URL.canParse(text);

/** `http://127.0.0.1`: an application on a computer, which listens on any port (RFC 8252 section 7.3). */
export const isAnyPort = (text: string): boolean =>
  ['http://127.0.0.1', 'http://[::1]', 'http://localhost'].includes(text);

/** Whether an entry of `return_to` can match an address. */
export const isReturnTo = (text: string): boolean =>
  isAppAddress(text) || (isOrigin(text) && /^https?:/.test(text));
