import type { Schema } from './words.ts';

/** The part of a schema that a JSON pointer such as `#/$defs/node` names. */
export function resolve(root: Schema, pointer: string): unknown {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  return pointer
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, part) => {
      const known = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
      return known ? (value as Schema)[part] : undefined;
    }, root);
}

/** Whether some finite value fits the schema: an object that must contain itself never ends. */
export function canEnd(schema: unknown, root: Schema, open: readonly unknown[] = []): boolean {
  if (typeof schema !== 'object' || schema === null) return schema !== false;
  if (open.includes(schema)) return false;
  const within = [...open, schema];
  const ends = (each: unknown) => canEnd(each, root, within);
  const { $ref, anyOf, type, items, minItems, required, properties } = schema as Schema;
  if (typeof $ref === 'string') return ends(resolve(root, $ref) ?? true);
  if (Array.isArray(anyOf)) return anyOf.some(ends);
  if (Array.isArray(type) && type.some((name) => name !== 'object' && name !== 'array'))
    return true;
  const isList = type === 'array' && Number(minItems ?? 0) > 0;
  if (isList) return ends(items ?? true);
  if (!Array.isArray(required) || typeof properties !== 'object') return true;
  return required.every((name) => ends((properties as Schema)[name as string] ?? true));
}
