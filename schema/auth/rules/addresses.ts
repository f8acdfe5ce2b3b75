import { finding, type Rule } from '../../rules/finding.ts';
import { proxyFindings } from '../../rules/server-addresses.ts';
import { isSafeUrl } from '../../rules/urls.ts';

/** ADDRESS_INVALID: proxies and webhooks of the auth section must be valid addresses. */
export const addresses: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  if (!values.auth) return;
  yield* proxyFindings(facts.manifest, 'auth', values.auth.trustedProxies ?? []);
  for (const [index, { url }] of values.auth.events.webhooks.entries()) {
    if (!isSafeUrl(url))
      yield finding(
        'ADDRESS_INVALID',
        `The webhook ${url} is no https address`,
        at(['auth', 'events', 'webhooks', index, 'url']),
        { fix: 'https://…' },
      );
  }
};
