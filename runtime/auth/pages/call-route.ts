import { InternalError } from '@twofold/runtime/errors';
import { type BoundRoute, createChecks, type Guard, type Reply } from '@twofold/runtime/http';
import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import { validator } from '../validator.ts';
import type { CallInput } from './page.ts';

/** Calls handlers of endpoints inside the process. */
export interface RouteCaller {
  has(endpoint: string): boolean;
  call(
    endpoint: string,
    request: { readonly koa: KoaContext; readonly context: RequestContext },
    input?: CallInput,
  ): Promise<Reply>;
}

/**
 * The pages use the endpoints' own handlers, behind the same guards, limits and checks: a page can
 * do nothing that a client cannot.
 */
export function createRouteCaller(
  routes: readonly BoundRoute[],
  guards: Readonly<Record<string, Guard>>,
): RouteCaller {
  const byName = new Map(routes.map((route) => [`${route.spec.method} ${route.spec.path}`, route]));
  const checks = createChecks(validator);
  const bodyChecks = new Map<string, (value: unknown) => unknown>();
  const check = ({ spec }: BoundRoute, body: unknown) => {
    if (spec.body?.kind !== 'json') return undefined;
    const known = bodyChecks.get(spec.id) ?? checks.body(spec.body.schema);
    bodyChecks.set(spec.id, known);
    return known(body);
  };
  return {
    has: (endpoint) => byName.has(endpoint),
    call: async (endpoint, { koa, context }, { params = {}, body = {} } = {}) => {
      const route = byName.get(endpoint);
      if (!route) throw new InternalError(`there is no endpoint ${endpoint}`);
      await guards[route.spec.access]?.(context, route.spec, koa);
      const checked = check(route, { ...body });
      return route.handle({ route: route.spec, params, query: {}, body: checked, context, koa });
    },
  };
}
