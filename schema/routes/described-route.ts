import type { MembersOf, ValueOf } from '../shapes/index.ts';
import type { BodySpec, JsonSchema, Method, RouteSpec } from './route.ts';

/** A description with a schema, with a type that is not JSON, or alone. */
type Answer = readonly [description: string, content?: JsonSchema | `${string}/${string}`];

type StreamBody = Extract<BodySpec, { readonly kind: 'stream' }>;

/** An endpoint without its name, in the words of a flow. */
export interface RouteWords<Body, Query> extends Pick<
  RouteSpec,
  'description' | 'deprecated' | 'security' | 'headers' | 'audit' | 'limits'
> {
  /** The guard that runs before the handler; `public` lets everybody in. */
  readonly needs: string;
  readonly tag?: string;
  readonly summary: string;
  readonly query?: Query;
  /** The shape of a JSON body, or a body that the handler reads itself. */
  readonly body?: Body | StreamBody;
  /** Bytes of a JSON body, where it is not the usual limit. */
  readonly limit?: number;
  /** Whether a JSON body may be left out. It is `{}` then. */
  readonly optional?: boolean;
  readonly form?: JsonSchema;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses besides, whose answers have the one shape of refusals, perhaps each with its reason. */
  readonly refuses?: Refusals;
}

type Refusals = readonly number[] | Readonly<Record<number, string>>;

/** What the endpoints of a capability have in common. */
export interface UsualRoute {
  readonly tag: string;
  /** The answer of a call that is refused. */
  readonly refused: RouteSpec['responses'][number];
  /** Refusals of every call, where each has its reason. */
  readonly refuses?: Readonly<Record<number, string>>;
  /** Bytes of a JSON body; if absent, those of the server. */
  readonly limit?: number;
  /** The schema of an answer that names none; if absent, such an answer has no body. */
  readonly anything?: JsonSchema;
}

/** What the words of a flow say of its handler's input. */
export interface InputOf<Name extends string, Body, Query> {
  readonly body: ValueOf<Body>;
  readonly query: MembersOf<Query>;
  readonly params: { readonly [Param in ParamsIn<Name>]: string };
}

/** The parameters of a path: `/api/apps/:name/runs/:id` has `name` and `id`. */
type ParamsIn<Name extends string> = Name extends `${string}/${':' | '*'}${infer Rest}`
  ? Rest extends `${infer Param}/${infer After}`
    ? Param | ParamsIn<`/${After}`>
    : Rest
  : never;

/**
 * An endpoint as data, from its name and its words. Its id is given by the table that has it.
 *
 * @example describedRoute('GET /api/apps', { needs: 'apps:read', summary: 'Lists the apps', answers: { 200: ['The apps'] } }, usual)
 */
export function describedRoute(
  name: `${Method} /${string}`,
  words: RouteWords<JsonSchema, Readonly<Record<string, JsonSchema>>>,
  { tag, anything, ...usual }: UsualRoute,
): RouteSpec {
  const { needs, body, limit = usual.limit, optional = false, form, ...rest } = words;
  const { answers, refuses, ...said } = rest;
  const [method, path] = name.split(' ') as [Method, string];
  const json = body && { kind: 'json', schema: body, limit, optional, ...(form && { form }) };
  return {
    tag,
    ...said,
    ...{ id: '', method, path, access: needs },
    ...(body && { body: (body['kind'] === 'stream' ? body : json) as BodySpec }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, [description, content = anything]]) => [
          status,
          typeof content === 'string'
            ? { description, type: content }
            : { description, ...(content && { schema: content }) },
        ]),
      ),
      ...refusals(refuses, usual),
    },
  };
}

function refusals(
  given: Refusals = {},
  { refused, refuses }: Pick<UsualRoute, 'refused' | 'refuses'>,
): RouteSpec['responses'] {
  if (isList(given)) return Object.fromEntries(given.map((status) => [status, refused]));
  const reasons = Object.entries({ ...refuses, ...given });
  return Object.fromEntries(
    reasons.map(([status, description]) => [status, { ...refused, description }]),
  );
}

const isList = (given: Refusals): given is readonly number[] => Array.isArray(given);

/** A body that the handler reads itself, such as an upload. */
export const stream = (type: string, schema?: JsonSchema): StreamBody => ({
  ...{ kind: 'stream', type },
  ...(schema && { schema }),
});

/**
 * The routes of a capability by their names only. They are what a project's own paths must leave
 * free, and what `generator breaking` compares. The capability's package has the rest of each: its
 * flows, which the server describes.
 *
 * @example namedRoutes('hosting', ['GET /api/apps'])[0].path // '/api/apps'
 */
export const namedRoutes = (
  tag: string,
  names: readonly `${Method} /${string}`[],
): readonly RouteSpec[] =>
  names.map((name) => ({
    ...describedRoute(name, { needs: 'public', summary: '', answers: {} }, NOTHING),
    ...{ id: name, tag },
  }));

const NOTHING: UsualRoute = { tag: '', refused: { description: '' } };
