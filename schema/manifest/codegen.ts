import type { Shape } from './shape.ts';

const plugin = { type: ['string', 'object'] } as const satisfies Shape;

const globs = {
  type: ['string', 'array'],
  items: { type: 'string', minLength: 1 },
  minLength: 1,
  description: 'Globs of documents, from the project folder. Those of client: when absent.',
} as const satisfies Shape;

/** `codegen:` of the manifest: what graphql-codegen calls `generates`, by output. */
export const codegenSchema = {
  type: 'object',
  description:
    'Files that plugins and presets of graphql-codegen write, by path: src/generated/zod.ts, ../web/src/gql/',
  propertyNames: { pattern: '^[^\\s]+$' },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      plugins: {
        type: 'array',
        items: plugin,
        description: 'Names, or { name: config }; ./codegen/mine.ts is your own.',
      },
      preset: { type: 'string', minLength: 1, description: 'A preset: client' },
      presetConfig: { type: 'object', description: 'Options of the preset.' },
      config: { type: 'object', description: 'Options of all plugins of the entry.' },
      documents: globs,
    },
  },
} as const satisfies Shape;
