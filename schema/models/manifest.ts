import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';

/** The JSON Schema of `hosting.models` in the manifest. */
export const modelsSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  properties: {
    directory: { type: 'string', minLength: 1, default: 'data/models' },
    engine: { type: 'string', minLength: 1, default: 'auto' },
    list: { type: 'array', default: [] },
  },
} as const satisfies Shape;

/** The settings `hosting.models` with every default. */
export type ModelsValues = ValuesOf<typeof modelsSchema>;
