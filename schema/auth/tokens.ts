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

/** `auth.jwt` */
export const jwtSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'Access tokens. Their secret is the setting JWT_SECRET.',
  properties: {
    ttl: { $ref: '#/definitions/duration', default: '24h' },
    leeway: { $ref: '#/definitions/duration', default: '0s' },
    issuer: { type: ['string', 'null'], default: null },
    audience: { type: ['string', 'null'], default: null },
    max_bytes: { type: 'integer', minimum: 512, maximum: 16384, default: 8192 },
  },
} as const satisfies Shape;
