import type { Position } from '../diagnostic.ts';
import type { Manifest } from '../parse/manifest.ts';
import type { Finding } from '../parse/places.ts';
import { finding, type Rule } from './finding.ts';
import { isAddressRange, isOrigin } from './urls.ts';

/** ADDRESS_INVALID: proxies and origins of the server section must be valid. */
export const serverAddresses: Rule = function* ({ facts: { manifest } }) {
  const { values, at } = manifest;
  yield* proxyFindings(manifest, 'server', values.server.trustedProxies);
  for (const [index, text] of values.server.cors.entries()) {
    if (text !== '*' && !isOrigin(text))
      yield finding('ADDRESS_INVALID', at(['server', 'cors', index]), {
        summary: `server.cors: ${text} is no origin`,
        why: 'scheme, host and port, with nothing behind them',
        fix: 'https://app.example.com',
      });
  }
  yield* wildcard(values.server.cors, at(['server', 'cors']));
};

/** ADDRESS_INVALID for each entry of a section's `trusted_proxies` that is not an address. */
export function* proxyFindings(
  { at }: Manifest,
  section: string,
  proxies: readonly string[],
): Generator<Finding> {
  for (const [index, text] of proxies.entries()) {
    if (!isAddressRange(text))
      yield finding('ADDRESS_INVALID', at([section, 'trusted_proxies', index]), {
        summary: `${section}.trusted_proxies: ${text} is no address and no range`,
        fix: '10.0.0.0/8',
      });
  }
}

/**
 * CORS_WILDCARD: with `*` no origin gets responses to requests with cookies, so another origin in
 * the list would lose them too.
 */
function* wildcard(cors: readonly string[], at: Position): Iterable<Finding> {
  if (!cors.includes('*') || cors.length === 1) return;
  yield finding('CORS_WILDCARD', at, {
    summary: 'server.cors has * beside other origins',
    why: '* is every origin, and a browser sends no cookies then, to none of them',
    fix: 'cors: ["*"]',
  });
}
