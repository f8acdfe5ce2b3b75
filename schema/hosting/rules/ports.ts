import { finding, type Rule } from '../../rules/finding.ts';

/** HOSTING_PORTS_INVALID: `hosting.ingress.ports` must be a range of ports. */
export const ports: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const range = values.hosting?.ingress?.ports;
  if (range === undefined) return;
  const [from = 0, to = 0] = range.split('-').map(Number);
  if (from >= 1 && from <= to && to <= 65_535) return;
  yield finding('HOSTING_PORTS_INVALID', at(['hosting', 'ingress', 'ports']), {
    summary: `hosting.ingress.ports: ${range} is no range of ports`,
    why: 'apps may have ports from the first to the second, 1 to 65535',
    fix: '1024-65535',
  });
};
