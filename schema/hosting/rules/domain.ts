import { finding, type Rule } from '../../rules/finding.ts';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)*${LABEL}$`, 'i');

/** ADDRESS_INVALID: the names of apps are added to `hosting.domain`, so it must be a host name. */
export const domain: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const name = values.hosting?.domain;
  if (name === undefined || DOMAIN.test(name)) return;
  yield finding('ADDRESS_INVALID', at(['hosting', 'domain']), {
    summary: `hosting.domain: ${name} is no domain`,
    why: 'an app answers at <name>.<domain>',
    fix: 'apps.example.com',
  });
};
