import type { Shape } from '../manifest/shape.ts';
import type { ValuesOf } from '../manifest/values-of.ts';

const name = { type: 'string', minLength: 1 } as const;
const room = {
  anyOf: [{ const: 'auto' }, { $ref: '#/definitions/size' }],
  default: 'auto',
} as const;

/** The JSON Schema of `hosting.models` in the manifest. */
export const modelsSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  properties: {
    directory: { type: 'string', minLength: 1, default: 'data/models' },
    engine: {
      anyOf: [name, { type: 'array', items: name, minItems: 1 }],
      default: 'auto',
      description: 'auto, mlx, llamacpp, openai or an address; or a list, asked in this order',
    },
    list: { type: 'array', default: [] },
    allow: {
      type: 'array',
      items: name,
      description: 'Ids that may be downloaded; * stands for any text. All when absent',
    },
    max_size: { $ref: '#/definitions/size', default: '50GiB' },
    // Keys without a default are not printed into the settings of a project that has none.
    loaded: {
      type: 'object',
      additionalProperties: false,
      properties: {
        max: { type: 'integer', minimum: 1, default: 3 },
        memory: room,
        gpu_memory: room,
        idle: { $ref: '#/definitions/duration', default: '15m' },
      },
    },
    aliases: { type: 'object', additionalProperties: name },
    fallbacks: {
      type: 'object',
      additionalProperties: { type: 'array', items: name },
    },
    prices: {
      type: 'object',
      description: 'What a million tokens cost',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['input', 'output'],
        properties: { input: { type: 'number' }, output: { type: 'number' } },
      },
    },
  },
} as const satisfies Shape;

/** The settings `hosting.models` with every default. */
export type ModelsValues = ValuesOf<typeof modelsSchema>;
