import type { Position } from '../diagnostic.ts';
import type { Finding } from '../parse/places.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';
import { isAddressRange, isOrigin, isSafeUrl } from './urls.ts';

/** ADDRESS_INVALID: proxies, origins, webhooks and domains of the manifest are what they are used as. */
export const addresses: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const proxies = [
    ['server', values.server.trusted_proxies],
    ['auth', values.auth?.trusted_proxies ?? []],
  ] as const;
  for (const [section, list] of proxies) {
    for (const [index, text] of list.entries()) {
      if (!isAddressRange(text))
        yield finding(
          'ADDRESS_INVALID',
          `${section}.trusted_proxies: ${text} is no address and no range`,
          at([section, 'trusted_proxies', index]),
          { fix: '10.0.0.0/8' },
        );
    }
  }
  for (const [index, text] of values.server.cors.entries()) {
    if (text !== '*' && !isOrigin(text))
      yield finding(
        'ADDRESS_INVALID',
        `server.cors: ${text} is no origin`,
        at(['server', 'cors', index]),
        { why: 'scheme, host and port, with nothing behind them', fix: 'https://app.example.com' },
      );
  }
  yield* wildcard(values.server.cors, at(['server', 'cors']));
  for (const [index, { url }] of (values.auth?.events.webhooks ?? []).entries()) {
    if (!isSafeUrl(url))
      yield finding(
        'ADDRESS_INVALID',
        `The webhook ${url} is no https address`,
        at(['auth', 'events', 'webhooks', index, 'url']),
        { fix: 'https://…' },
      );
  }
  const domain = values.hosting?.domain;
  if (
    domain !== undefined &&
    !/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(
      domain,
    )
  ) {
    yield finding(
      'ADDRESS_INVALID',
      `hosting.domain: ${domain} is no domain`,
      at(['hosting', 'domain']),
      { why: 'an app answers at <name>.<domain>', fix: 'apps.example.com' },
    );
  }
};

/** CORS_WILDCARD: `*` gives every origin the answers without cookies, so that another origin beside it would lose them too. */
function* wildcard(cors: readonly string[], at: Position): Iterable<Finding> {
  if (!cors.includes('*') || cors.length === 1) return;
  yield finding('CORS_WILDCARD', 'server.cors has * beside other origins', at, {
    why: '* is every origin, and a browser sends no cookies then, to none of them',
    fix: 'cors: ["*"]',
  });
}
