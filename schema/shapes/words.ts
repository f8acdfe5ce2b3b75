import type { JsonSchema } from '../routes/route.ts';

/** Words for JSON Schemas. The types of values follow from them: `ValueOf`. */

export const text = { type: 'string' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const flag = { type: 'boolean' } as const;
export const dateTime = { type: 'string', format: 'date-time' } as const;

type Members = Readonly<Record<string, JsonSchema>>;

/** An object that may have further members, as those of answers. */
export const object = <const Properties extends Members, const Key extends string = never>(
  properties: Properties,
  required?: readonly Key[],
) => ({ type: 'object', properties, ...(required && { required }) }) as const;

/** An object without further members, as those of bodies. */
export const closed = <const Properties extends Members, const Key extends string = never>(
  properties: Properties,
  required: readonly Key[] = [],
) => ({ type: 'object', properties, required, additionalProperties: false }) as const;

/** An array, with further words about its length. */
export const list = <const Item extends JsonSchema, const Words extends JsonSchema = {}>(
  items: Item,
  words?: Words,
) => ({ type: 'array', items, ...(words as Words) }) as const;

/** An answer with a list and how many there are: `{ apps, total }`. */
export const listed = (name: string, item: JsonSchema) =>
  object({ [name]: list(item), total: count });

/** A value of a plain type, or null. */
export const orNull = <const Type extends string>(type: Type) =>
  ({ type: [type, 'null'] }) as const;
