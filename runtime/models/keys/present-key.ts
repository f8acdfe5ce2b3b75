import { failure } from '@twofold/runtime/errors';
import type { RequestContext, ServerModule } from '@twofold/runtime/kernel';
import { KEY_BEGIN, type ModelKeys } from './model-keys.ts';

type Middleware = NonNullable<ServerModule['before']>[number];
type KoaContext = Parameters<Middleware>[0];

const PATH = /^\/api\/mlx\/v1(\/|$)/i;
const BEARER = /^Bearer ([^\s]+)$/i;

/**
 * Reads keys for models, as bearer token or as `x-api-key`, and removes them from the request. They
 * open `/api/mlx/v1` and nothing else: on other paths authentication refuses them as it refuses any
 * unknown key.
 */
export function readModelKey(keys: ModelKeys): Middleware {
  return async function readModelKey(ctx, next) {
    const text = PATH.test(ctx.path) ? presented(ctx) : null;
    if (text !== null) {
      const key = await keys.authenticate(text);
      if (!key) throw failure.unauthenticated('Invalid API key');
      delete ctx.req.headers.authorization;
      delete ctx.req.headers['x-api-key'];
      const context = ctx.state['context'] as RequestContext;
      context.principal = { kind: 'api_key', id: key.id, scopes: ['models:read'], userId: null };
    }
    await next();
  };
}

function presented(ctx: KoaContext): string | null {
  const key = ctx.get('x-api-key');
  const bearer = BEARER.exec(ctx.get('authorization'))?.[1] ?? '';
  return [key, bearer].find((text) => text.startsWith(KEY_BEGIN)) ?? null;
}
