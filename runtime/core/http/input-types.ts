import type { JsonSchema } from '@twofold/schema';

/** A problem of an input. `field` is its path with dots, and empty for the whole value. */
export interface InputError {
  readonly field: string;
  readonly message: string;
}

export type InputResult =
  | { readonly value: unknown }
  | { readonly errors: readonly [InputError, ...InputError[]] };

/** Checks values by the input types of the schema, for input that does not come through GraphQL. */
export interface InputTypes {
  has(name: string): boolean;
  /**
   * Checks a value against an input type and gives it as a resolver would get it.
   *
   * @param as `text`: numbers and booleans may be text, as in a query string. `own`: the scalars are
   * those of own code, which are not parsed again.
   */
  check(name: string, value: unknown, as?: 'text' | 'own'): InputResult;
  /** Its JSON Schema, for OpenAPI. */
  describe(name: string): JsonSchema;
}
