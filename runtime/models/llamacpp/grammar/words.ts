/** A JSON Schema, as a caller sends it. */
export type Schema = Readonly<Record<string, unknown>>;

export type TypeName = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** Words that limit nothing. */
const ANNOTATIONS = [
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
] as const;

/** The words that limit a value of each type. */
export const WORDS: Readonly<Record<TypeName, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['pattern', 'format', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  boolean: [],
  null: [],
};

export const TYPES = Object.keys(WORDS) as readonly TypeName[];

/** The word that alone decides what a schema allows, and those that may stand beside it. */
export const FORMS: Readonly<Record<string, readonly string[]>> = {
  $ref: [],
  const: ['type'],
  enum: ['type'],
  anyOf: [],
};

const isAnnotation = (word: string) => (ANNOTATIONS as readonly string[]).includes(word);

/** The first word of a schema that is neither in `allowed` nor an annotation. */
export const strangeWord = (schema: Schema, allowed: readonly string[]): string | undefined =>
  Object.keys(schema).find((word) => !allowed.includes(word) && !isAnnotation(word));

/** The types that the other keywords of a schema without `type` imply. */
export function impliedTypes(schema: Schema): readonly TypeName[] {
  const implied = TYPES.filter(
    (type) => type !== 'integer' && WORDS[type].some((word) => word in schema),
  );
  return implied;
}
