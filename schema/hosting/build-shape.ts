const path = { type: ['string', 'null'], minLength: 1, maxLength: 500 } as const;

/**
 * How an app is built from its source. A key with null goes back to the default. The whole field
 * with null does so for every key.
 */
export const buildShape = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    dockerfile: path,
    context: path,
    target: { type: ['string', 'null'], pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' },
    args: {
      type: ['object', 'null'],
      maxProperties: 200,
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
      additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 16_384 },
    },
    secrets: {
      type: ['array', 'null'],
      maxItems: 50,
      uniqueItems: true,
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
    },
    output: path,
  },
} as const;
