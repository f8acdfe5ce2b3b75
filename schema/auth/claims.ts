import type { Shape } from '../manifest/shape.ts';

/** `auth.extend`: what a token carries, so that claims in rules can be checked. */
export const claimsSchema = {
  type: ['array', 'null'],
  items: { type: 'string', pattern: '^[A-Za-z_$][\\w$-]*(\\.[A-Za-z_$][\\w$-]*)*$' },
  uniqueItems: true,
  default: null,
  description:
    'The values that src/extend.ts returns, by their paths: company.id. A claim in a rule must be one of them. Absent: any.',
} as const satisfies Shape;
