import { UnsupportedSchema } from './rules.ts';

/** The part of a schema that a JSON pointer such as `#/$defs/node` names. */
export function resolve(root: Schema, pointer: string): unknown {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  return pointer
    .slice(2)
    .split('/')
    .map((part) => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, part) => {
      const known = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
      return known ? (value as Schema)[part] : undefined;
    }, root);
}

/** A part that is no valid escape names itself. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** More than a schema has whose grammar is small enough. */
const MOST_STEPS = 5000;

/**
 * Whether some finite value fits the schema: an object that must contain itself never ends.
 *
 * @throws UnsupportedSchema when that takes too long to find out: references can branch again and again.
 */
export function canEnd(schema: unknown, root: Schema): boolean {
  const ending = new Set<unknown>();
  let steps = 0;
  const ends = (each: unknown, open: readonly unknown[]): boolean => {
    if (typeof each !== 'object' || each === null) return each !== false;
    if (ending.has(each)) return true;
    if (open.includes(each)) return false;
    steps += 1;
    if (steps > MOST_STEPS) throw new UnsupportedSchema('', 'is too large: simplify the schema');
    const within = [...open, each];
    const found = endsWith(each as Schema, root, (next) => ends(next, within));
    if (found) ending.add(each);
    return found;
  };
  return ends(schema, []);
}

function endsWith(schema: Schema, root: Schema, ends: (each: unknown) => boolean): boolean {
  const { $ref, anyOf, type, items, minItems, required, properties } = schema;
  if (typeof $ref === 'string') return ends(resolve(root, $ref) ?? true);
  if (Array.isArray(anyOf)) return anyOf.some(ends);
  if (Array.isArray(type) && type.some((name) => name !== 'object' && name !== 'array'))
    return true;
  const isList = type === 'array' && Number(minItems ?? 0) > 0;
  if (isList) return ends(items ?? true);
  if (!Array.isArray(required) || typeof properties !== 'object') return true;
  return required.every((name) => ends((properties as Schema)[name as string] ?? true));
}

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
