import {
  describedRoute,
  type InputOf,
  type JsonSchema,
  type Method,
  type RouteSpec,
  type RouteWords,
  type UsualRoute,
} from '@twofold/schema';
import type { BoundRoute, Call, Reply } from './route.ts';

/**
 * A flow is one endpoint of a capability in one place: its route, who may call it, the shapes of
 * what it takes and answers, what the audit log keeps of it, and its handler. Checks, types and
 * OpenAPI follow from the shapes.
 *
 * A capability makes its own `flow` once, with what its endpoints have in common, and lists its
 * files of flows in one table, `flowsIn`, which its `Capability` shows to documents. The name of an
 * export is the id of the route. `schema/` knows only the names of routes: `namedRoutes`.
 *
 * @example
 * const flow = flowsOf<Leader>({ tag: 'hosting', refused, limit: 1024 * 1024 });
 *
 * export const getApp = flow('GET /api/apps/:name', {
 *   needs: 'apps:read',
 *   summary: 'Returns one app',
 *   answers: { 200: ['The app', app] },
 *   refuses: [404],
 *   handle: ({ params }, { apps }) => reply(200, apps.byName(params.name)),
 * });
 */
export interface Flow<State> extends RouteSpec {
  /** @param state the objects of the capability that live longer than a call. */
  handle(call: Call, state: State): Promise<Reply> | Reply;
}

export interface Handled<Input extends InputOf<string, unknown, unknown>, State> {
  handle(
    call: Call<Input['body'], Input['query'], Input['params']>,
    state: State,
  ): Promise<Reply> | Reply;
}

/** The function by which a capability writes its flows. */
export const flowsOf =
  <State>(usual: UsualRoute) =>
  <
    const Name extends `${Method} /${string}`,
    const Body extends JsonSchema = {},
    const Query extends Readonly<Record<string, JsonSchema>> = {},
  >(
    name: Name,
    { handle, ...words }: RouteWords<Body, Query> & Handled<InputOf<Name, Body, Query>, State>,
  ): Flow<State> => ({ ...describedRoute(name, words, usual), handle });

/** The table of a capability: the flows that its files export, each named after its export. */
export const flowsIn = <State>(...files: readonly object[]): readonly Flow<State>[] =>
  files
    .flatMap((file) => Object.entries(file))
    .filter((entry): entry is [string, Flow<State>] => typeof entry[1]?.handle === 'function')
    .map(([id, flow]) => ({ ...flow, id }));

/** Gives flows their state, for the router, in which a word comes before a parameter. */
export const bindFlows = <State>(flows: readonly Flow<State>[], state: State): BoundRoute[] =>
  flows
    .toSorted((a, b) => rankOf(a.path).localeCompare(rankOf(b.path)))
    .map((flow) => ({ spec: flow, handle: (call) => flow.handle(call, state) }));

/** Digits that sort paths: of each part, a word is 0, a parameter 1, and all that follows 2. */
const rankOf = (path: string): string =>
  path.replaceAll(/\/(.)[^/]*/g, (_, first: string) => `${':*'.indexOf(first) + 1}`);
