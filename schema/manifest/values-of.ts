import type { RateLimit } from './quantities.ts';

/** `max_bytes` → `maxBytes`. */
type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

/** The TypeScript types of the shared definitions. `units.ts` converts the values. */
interface DefinedValues {
  readonly duration: number;
  readonly size: number;
  readonly count: number;
  readonly limit: RateLimit;
  readonly when: 'always' | 'development' | 'never';
}

/** A value whose definition has no unit. */
type AsWritten = Readonly<Record<string, unknown>> | null;

/**
 * The values that a JSON Schema describes, as the model holds them: keys in camelCase, defaults
 * filled in, durations in milliseconds and sizes in bytes.
 *
 * @example
 * ValuesOf<typeof authSchema> // { readonly jwt: { readonly ttl: number; readonly maxBytes: number; … }; … } | null
 */
export type ValuesOf<Schema> = Schema extends { readonly $ref: `#/definitions/${infer Name}` }
  ? Name extends keyof DefinedValues
    ? DefinedValues[Name]
    : AsWritten
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly const: infer Value }
      ? Value
      : Schema extends { readonly anyOf: readonly (infer Option)[] }
        ? ValuesOf<Option>
        : Schema extends { readonly type: readonly (infer Type)[] }
          ? OfType<Type, Schema>
          : Schema extends { readonly type: infer Type }
            ? OfType<Type, Schema>
            : unknown;

type OfType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'integer' | 'number'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'array'
        ? readonly ItemOf<Schema>[]
        : Type extends 'object'
          ? ObjectOf<Schema>
          : null;

type ItemOf<Schema> = Schema extends { readonly items: infer Item } ? ValuesOf<Item> : unknown;

type ObjectOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      {
        readonly [Key in keyof Properties as Present<Key, Properties[Key], Schema>]: ValuesOf<
          Properties[Key]
        >;
      } & {
        readonly [Key in keyof Properties as Absent<Key, Properties[Key], Schema>]?: ValuesOf<
          Properties[Key]
        >;
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Readonly<Record<string, ValuesOf<Value>>>
    : Readonly<Record<string, unknown>>;

/** A key with a default, and a required key, always has a value. */
type Present<Key, Property, Schema> =
  IsPresent<Key, Property, Schema> extends true ? CamelCase<Key & string> : never;

type Absent<Key, Property, Schema> =
  IsPresent<Key, Property, Schema> extends true ? never : CamelCase<Key & string>;

type IsPresent<Key, Property, Schema> = Property extends { readonly default: unknown }
  ? true
  : Schema extends { readonly required: readonly (infer Required)[] }
    ? Key extends Required
      ? true
      : false
    : false;

/** Turns an intersection into one object type, so that editors show its members. */
type Flat<Type> = { readonly [Key in keyof Type]: Type[Key] };
