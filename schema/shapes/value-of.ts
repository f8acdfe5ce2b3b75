import type { JsonSchema } from '../routes/route.ts';

declare const value: unique symbol;

/** A shape whose type is written by hand, because a JSON Schema cannot say it as well. */
export type Shaped<Value> = JsonSchema & { readonly [value]?: Value };

/**
 * The type of the values that a JSON Schema accepts, with its defaults filled in.
 *
 * @example ValueOf<{ type: 'object', properties: { tail: { type: 'integer', default: 100 } } }> // { readonly tail: number }
 */
export type ValueOf<Shape> = Shape extends { readonly [value]?: infer Value }
  ? unknown extends Value
    ? Described<Shape>
    : Value
  : Described<Shape>;

type Described<Shape> = Shape extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Shape extends { readonly const: infer Value }
    ? Value
    : Shape extends { readonly anyOf: readonly (infer Option)[] }
      ? ValueOf<Option>
      : Shape extends { readonly type: readonly (infer Type)[] }
        ? OfType<Type, Shape>
        : Shape extends { readonly type: infer Type }
          ? OfType<Type, Shape>
          : unknown;

type OfType<Type, Shape> = Type extends 'string'
  ? string
  : Type extends 'integer' | 'number'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'array'
        ? readonly (Shape extends { readonly items: infer Item } ? ValueOf<Item> : unknown)[]
        : Type extends 'object'
          ? Shape extends { readonly properties: infer Members }
            ? MembersOf<Members, RequiredIn<Shape>>
            : Shape extends { readonly additionalProperties: infer Member extends object }
              ? Readonly<Record<string, ValueOf<Member>>>
              : Readonly<Record<string, unknown>>
          : null;

/** The names that a shape requires; `object` may be without any. */
type RequiredIn<Shape> = Shape extends { readonly required?: infer Names }
  ? Names extends readonly (infer Key)[]
    ? Key
    : never
  : never;

/** The values of members: those that are required or have a default are always there. */
export type MembersOf<Members, Required = never> = {
  readonly [
    Key in keyof Members as Members[Key] extends { readonly default: unknown }
      ? Key
      : Extract<Key, Required>
  ]: ValueOf<Members[Key]>;
} & {
  readonly [
    Key in keyof Members as Members[Key] extends { readonly default: unknown }
      ? never
      : Exclude<Key, Required>
  ]?: ValueOf<Members[Key]>;
};
