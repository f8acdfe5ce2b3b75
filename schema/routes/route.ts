import type { OnDelete } from '../model/entity.ts';
import type { Callers } from './callers.ts';

/** A JSON Schema, as ajv and OpenAPI 3.1 read it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One HTTP endpoint as data, described once: the runtime binds a handler to its `id`,
 * `openapi.json` is made from it, and a rule checks that no REST module uses its path.
 *
 * @example
 * { id: 'me', method: 'GET', path: '/api/auth/me', access: 'user', tag: 'auth', summary: 'The signed-in user',
 *   responses: { 200: { description: 'The user', schema: { $ref: '#/components/schemas/User' } } } }
 */
export interface RouteSpec {
  /** Unique in its table, and the name of the handler. */
  readonly id: string;
  readonly method: Method;
  /** With `:name` for a parameter and `*name` for the rest of the path. */
  readonly path: string;
  /** The guard that runs before the handler; `public` accepts every caller. */
  readonly access: string;
  readonly tag: string;
  /** Several tags, the first one of which is `tag`. */
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Why the route will be removed, for the document. */
  readonly deprecated?: string;
  /**
   * Accepted kinds of credentials, if they do not follow from the guard's name; an empty list needs
   * none.
   */
  readonly security?: readonly ('bearer' | 'api_key')[];
  /** Whom the rules of the schema leave out, for the document. */
  readonly callers?: Callers;
  /** Request headers that the handler reads, for the document. */
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  /**
   * What the audit log records of a call. Without it, the log has an entry for each method except
   * GET, if the route needs a permission to write. False for routes that change nothing.
   */
  readonly audit?: false | AuditSpec;
  /** Policies that count calls by IP address, where the capability has some for single routes. */
  readonly limits?: readonly string[];
  readonly body?: BodySpec;
  /** Query parameters, each with its schema; values are coerced from text. Others are ignored. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  /**
   * For a route that deletes a row: fields of other types that refer to the row, for the document.
   */
  readonly references?: readonly RouteReference[];
  readonly responses: Readonly<
    Record<
      number,
      {
        readonly description: string;
        readonly schema?: JsonSchema;
        readonly type?: string;
      }
    >
  >;
}

/**
 * An entry of the audit log. It has the names of the fields of the body, and never their values.
 */
export interface AuditSpec {
  /** The action in the log; the id of the route when absent. */
  readonly action?: string;
  /**
   * The changed object: `user:{id}`. The names are those of parameters and of fields of the body or
   * the answer. When absent, `name` or `id` of these is used.
   */
  readonly target?: string;
  /**
   * Fields of the body whose values are logged too. None may be a secret or an environment
   * variable.
   */
  readonly values?: readonly string[];
  /**
   * Whether the handler and the log entry share a transaction. Not possible for handlers that wait
   * for other systems.
   */
  readonly atomic?: boolean;
}

/**
 * A field of another type that refers to a row, and what happens to its rows when that row is
 * deleted.
 */
export interface RouteReference {
  readonly type: string;
  readonly field: string;
  readonly onDelete: OnDelete;
}

export type BodySpec =
  /**
   * The body is size-limited, parsed and validated before the handler runs. `optional`: an empty
   * body is `{}`.
   */
  | {
      readonly kind: 'json';
      readonly schema: JsonSchema;
      readonly limit?: number;
      readonly optional?: boolean;
      /** The schema of a form of any site, which is taken too: the handler is told by `koa.is`. */
      readonly form?: JsonSchema;
    }
  /**
   * The handler reads the request itself: uploads, proxied requests, signed bodies. `type`
   * documents it.
   */
  | { readonly kind: 'stream'; readonly type: string; readonly schema?: JsonSchema };
