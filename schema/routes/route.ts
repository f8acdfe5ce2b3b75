/** A JSON Schema, as ajv and OpenAPI 3.1 read it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One HTTP endpoint as data. The runtime binds a handler to its `id`, `openapi.json` is made from
 * it, and the rule that keeps a REST module off a fixed path reads it: an endpoint is described
 * once.
 *
 * @example
 * { id: 'me', method: 'GET', path: '/api/auth/me', access: 'user', tag: 'auth', summary: 'The signed-in user',
 *   responses: { 200: { description: 'The user', schema: { $ref: '#/components/schemas/User' } } } }
 */
export interface RouteSpec {
  /** Unique in its table; the handler has this name. */
  readonly id: string;
  readonly method: Method;
  /** With `:name` for a parameter and `*name` for the rest of the path. */
  readonly path: string;
  /** Name of the guard that is asked before the handler; `public` lets every caller pass. */
  readonly access: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * Ways of signing in that it takes, where the guard's name does not say so; an empty list needs
   * none.
   */
  readonly security?: readonly ('bearer' | 'api_key')[];
  /** Request headers that change what it does, for the document. */
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly body?: BodySpec;
  /** Query parameters, each with its schema; values are coerced from text. Others are ignored. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly responses: Readonly<
    Record<
      number,
      { readonly description: string; readonly schema?: JsonSchema; readonly type?: string }
    >
  >;
}

export type BodySpec =
  /** Parsed, capped and validated before the handler runs. `optional`: an empty body is `{}`. */
  | {
      readonly kind: 'json';
      readonly schema: JsonSchema;
      readonly limit?: number;
      readonly optional?: boolean;
    }
  /**
   * The handler reads the request itself: uploads, pass-throughs, signed bodies. `type` documents
   * it.
   */
  | { readonly kind: 'stream'; readonly type: string; readonly schema?: JsonSchema };
