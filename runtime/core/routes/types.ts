import type Router from '@koa/router';
import type { ExtendableContext, Next, Request } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { UploadedPart, UploadOptions } from './upload.ts';

/**
 * Who may call a route: a signed-in user, a user with one of the roles, a caller with the scope.
 */
export type RouteAccess =
  | 'user'
  | { readonly roles: readonly string[] }
  | { readonly scope: string };

/** A rate limit: `20/1m` for each address, `20/1m/user` for each signed-in user. */
export type RouteLimit = `${number}/${string}`;

/**
 * What a route expects and how it is described. `Inputs` are the input types of the schema by name.
 */
export interface RouteOptions<Inputs = any> {
  /**
   * An input type, a Standard Schema, or `raw` for a Buffer. Without it JSON and forms are parsed.
   */
  readonly body?: 'raw' | (keyof Inputs & string) | StandardSchema;
  /** An input type or a Standard Schema. Values are coerced from text. */
  readonly query?: (keyof Inputs & string) | StandardSchema;
  readonly auth?: RouteAccess;
  /** Takes `multipart/form-data` as a stream, by `ctx.files()`. */
  readonly upload?: true | UploadOptions;
  readonly limit?: RouteLimit;
  /** A type of the schema, for OpenAPI. */
  readonly response?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
}

type Letter = 'abcdefghijklmnopqrstuvwxyz' | 'ABCDEFGHIJKLMNOPQRSTUVWXYZ' | '0123456789_$';
type Characters<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First | Characters<Rest>
  : never;
type NameCharacter = Characters<Letter>;

/** The name at the beginning of a text: `slug` of `slug/comments`. */
type NameOf<
  Text extends string,
  Name extends string = '',
> = Text extends `${infer First}${infer Rest}`
  ? First extends NameCharacter
    ? NameOf<Rest, `${Name}${First}`>
    : Name
  : Name;

type Named<Path extends string, Mark extends string> = Path extends `${string}${Mark}${infer Rest}`
  ? NameOf<Rest> | Named<Rest, Mark>
  : never;

type WithoutOptional<Path extends string> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${WithoutOptional<After>}`
  : Path;

/**
 * The parameters of a path. Those in braces are optional.
 *
 * @example PathParameters<'/articles/:slug/comments/:id'> // { slug: string; id: string }
 */
export type PathParameters<Path> = Path extends string
  ? string extends Path
    ? Record<string, string>
    : { [Name in Named<WithoutOptional<Path>, ':' | '*'>]: string } & {
        [Name in Named<Path, ':' | '*'>]?: string;
      }
  : Record<string, string>;

type Checked<Type, Inputs, Absent> = Type extends 'raw'
  ? Buffer
  : Type extends StandardSchema
    ? OutputOf<Type>
    : Type extends keyof Inputs
      ? Inputs[Type]
      : Absent;

type OptionOf<Options, Name extends string> = Options extends {
  readonly [Key in Name]: infer Value;
}
  ? Value
  : undefined;

type Demand = (value: unknown, status?: number, ...about: readonly unknown[]) => void;

/** Koa's, but narrows no type: TypeScript cannot where the type of `ctx` is inferred (TS2775). */
type Assert = Demand & { readonly ok: Demand } & ExtendableContext['assert'];

/** The members of a context beside Koa's own, whose `headers` stay. */
type OnKoa<Context, Without extends string = never> = Omit<Context, 'headers'> &
  Omit<ExtendableContext, Exclude<keyof Context, 'headers'> | 'assert' | Without> & {
    readonly assert: Assert;
    readonly state: Record<PropertyKey, any>;
  };

/** `ctx` of a route: the context of all code, which is Koa's context too. */
export type RouteContext<Context, Path, Options, Inputs> = OnKoa<Context, 'query' | 'request'> & {
  readonly params: PathParameters<Path>;
  readonly query: Checked<OptionOf<Options, 'query'>, Inputs, Record<string, any>>;
  readonly request: Omit<Request, 'body'> & {
    readonly body: Checked<OptionOf<Options, 'body'>, Inputs, any>;
  };
} & (OptionOf<Options, 'upload'> extends undefined
    ? unknown
    : {
        /** The parts of the form as they arrive. Read each one before the next. */
        files(): AsyncGenerator<UploadedPart, void, undefined>;
      });

/** A function of a route. What it returns is the answer, unless it has set `ctx.body`. */
export type RouteHandler<Context> = (ctx: Context, next: Next) => unknown;

interface RouteVerb<Context, Inputs> {
  <const Path extends string, const Options extends RouteOptions<Inputs>>(
    path: Path,
    options: Options,
    ...handlers: RouteHandler<RouteContext<Context, Path, Options, Inputs>>[]
  ): OwnRouter<Context, Inputs>;
  <const Path extends string | RegExp | readonly string[]>(
    path: Path,
    ...handlers: RouteHandler<RouteContext<Context, Path, unknown, Inputs>>[]
  ): OwnRouter<Context, Inputs>;
}

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'del' | 'head' | 'options' | 'all';

/** `@koa/router` whose routes take options. */
export type OwnRouter<Context, Inputs> = Omit<Router, Verb | 'use'> & {
  readonly [Name in Verb]: RouteVerb<Context, Inputs>;
} & {
  /** Wraps the routes below it, with the reading and checking of their input. */
  use(
    ...middleware: RouteHandler<RouteContext<Context, string, unknown, Inputs>>[]
  ): OwnRouter<Context, Inputs>;
  use(
    path: string | RegExp | readonly string[],
    ...middleware: RouteHandler<RouteContext<Context, string, unknown, Inputs>>[]
  ): OwnRouter<Context, Inputs>;
};

/** The function that `src/routes.ts` exports as `routes`. The emitted types are narrower. */
export type RoutesOf<Context, Inputs> = (router: OwnRouter<Context, Inputs>) => void;

/** The router that `routes` of a plugin gets, with the context of every project. */
export type AnyRouter = OwnRouter<RequestContext, any>;

/** A function of `src/middleware.ts`, before authentication. The emitted type is narrower. */
export type MiddlewareOf<Context> = (ctx: OnKoa<Context>, next: Next) => unknown;
