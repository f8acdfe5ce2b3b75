import Router from '@koa/router';
import type { Context as KoaContext } from 'koa';
import { failure, InternalError } from '../errors.ts';
import { isForm, jsonBody } from './body.ts';
import type { BoundRoute, Guard, Reply } from './route.ts';
import { createChecks, type LoadValidator } from './validate.ts';

/** Guards by name. `public` needs none. */
export type Guards = Readonly<Record<string, Guard>>;

/**
 * Puts the routes of every module on one router: guard, then body, then checks, then the handler.
 *
 * @throws InternalError when a route names a guard that no module has, or two routes are the same.
 */
export function mountRoutes(
  router: Router,
  routes: readonly BoundRoute[],
  guards: Guards,
  validator?: LoadValidator,
): void {
  const checks = createChecks(validator);
  const seen = new Set<string>();
  for (const route of routes) {
    const { method, path, access } = route.spec;
    if (seen.has(`${method} ${path}`)) throw new InternalError(`two routes are ${method} ${path}`);
    seen.add(`${method} ${path}`);
    if (access !== 'public' && !guards[access])
      throw new InternalError(`${method} ${path} names the guard ${access}, which is not there`);
    router.register(
      toPattern(path),
      [method.toLowerCase()],
      serve(route, guards[access], checks) as never,
    );
  }
}

/** Our tables write `*rest`, the router writes `{*rest}`. */
const toPattern = (path: string) => path.replace(/\*(\w+)/, '{*$1}');

function serve(
  route: BoundRoute,
  guard: Guard | undefined,
  checks: ReturnType<typeof createChecks>,
) {
  const { spec, handle } = route;
  const readBody = spec.body?.kind === 'json' ? jsonBody(spec.body) : undefined;
  const checkJson = spec.body?.kind === 'json' ? checks.body(spec.body.schema) : undefined;
  const form = spec.body?.kind === 'json' && spec.body.form;
  const checkForm = form ? checks.body(form) : checkJson;
  const checkQuery = spec.query ? checks.query(spec.query) : undefined;
  return async (ctx: KoaContext & { params: Record<string, string> }) => {
    const context = ctx.state['context'];
    if (guard) {
      // What needs a credential is stored nowhere: the caller may sign out before others come.
      ctx.set('Cache-Control', 'no-store');
      await guard(context, spec, ctx);
    }
    if (Object.values(ctx.params).some(hasNul)) throw failure.notFound();
    const query = checkQuery ? checkQuery({ ...ctx.query }) : ctx.query;
    const checkBody = isForm(ctx) ? checkForm : checkJson;
    const body = readBody && checkBody ? checkBody(await readBody(ctx)) : undefined;
    ctx.state['handled'] = true;
    send(ctx, await handle({ route: spec, params: ctx.params, query, body, context, koa: ctx }));
  };
}

/**
 * Whether a parameter contains NUL. PostgreSQL cannot store this character, so no row has such an
 * id.
 */
const hasNul = (param: string | undefined): boolean => param?.includes('\0') === true;

function send(ctx: KoaContext, { status, body, headers = {} }: Reply): void {
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value as string);
  ctx.status = status;
  if (body === undefined) ctx.body = null;
  else ctx.body = body;
  if (body === undefined && status !== 204) ctx.status = status;
}
