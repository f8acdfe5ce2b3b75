import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';

/** `hosting.models` of the manifest as JSON Schema. */
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

/** `hosting.models` with every default. */
export type ModelsValues = ValuesOf<typeof modelsSchema>;
