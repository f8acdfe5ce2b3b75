import type { JsonSchema } from '../routes/route.ts';

/** Pieces that the JSON Schemas of the hosting API share. */

export const text = { type: 'string' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const dateTime = { type: 'string', format: 'date-time' } as const;

/** An object without further members. */
export const closedObject = (
  properties: Record<string, JsonSchema>,
  required: readonly string[] = [],
): JsonSchema => ({ type: 'object', properties, required, additionalProperties: false });

/** A value of a plain type, or null. */
export const nullableType = (type: string) => ({ type: [type, 'null'] });
