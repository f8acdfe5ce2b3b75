import { InternalError } from '@twofold/runtime/errors';
import { type BoundRoute, createChecks, type Guard, type Reply } from '@twofold/runtime/http';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { Context as KoaContext } from 'koa';
import { validator } from '../base/validator.ts';

export interface FlowInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Calls flows (`POST /api/auth/login`) inside the process, with the checks that a client meets. */
export interface FlowCalls {
  has(flow: string): boolean;
  /** The body, if the flow takes it. @throws AppError 400 */
  checked<Body extends object>(flow: string, body: Body): Body;
  /** @throws AppError like the endpoint. */
  call(
    flow: string,
    request: { readonly koa: KoaContext; readonly context: RequestContext },
    input?: FlowInput,
  ): Promise<Reply>;
}

/** @param guards absent: code of the project calls, for users whom it has recognised itself. */
export function createFlowCalls(
  routes: readonly BoundRoute[],
  guards: Readonly<Record<string, Guard>> = {},
): FlowCalls {
  const byName = new Map(routes.map((route) => [`${route.spec.method} ${route.spec.path}`, route]));
  const checks = createChecks(validator);
  const known = new Map<string, (body: unknown) => unknown>();
  const find = (flow: string): BoundRoute => {
    const route = byName.get(flow);
    if (!route) throw new InternalError(`there is no endpoint ${flow}`);
    return route;
  };
  const check = ({ spec: { id, body } }: BoundRoute, given: unknown): unknown => {
    if (body?.kind !== 'json') return undefined;
    const checkBody = known.get(id) ?? checks.body(body.schema);
    known.set(id, checkBody);
    return checkBody(given);
  };
  return {
    has: (flow) => byName.has(flow),
    checked: <Body extends object>(flow: string, body: Body) => check(find(flow), body) as Body,
    call: async (flow, { koa, context }, { params = {}, body = {} } = {}) => {
      const { spec, handle } = find(flow);
      await guards[spec.access]?.(context, spec, koa);
      const checked = check({ spec, handle }, { ...body });
      return handle({ route: spec, params, query: {}, body: checked, context, koa });
    },
  };
}
