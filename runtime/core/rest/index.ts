import { restModules } from '@twofold/schema';
import type { Middleware } from 'koa';
import type { Kernel, ServerModule } from '../module.ts';
import type { Resolvers, ScalarMapping } from '../plugin.ts';
import { describeServer, documentRoutesOf } from './document.ts';
import { createEndpoint } from './endpoint.ts';
import { createService } from './service.ts';

export interface RestOptions {
  readonly kernel: Kernel;
  /** The user's functions by type and field, the same that GraphQL has. */
  readonly resolvers?: Resolvers;
  readonly scalars?: Readonly<Record<string, ScalarMapping>>;
}

/**
 * The REST modules: for each entity the calls that the schema's root fields allow, with the plans, rules, functions and
 * events of GraphQL. And the document about every endpoint of the server.
 *
 * @example createRest({ kernel, resolvers }) // GET /api/posts, POST /api/posts, GET /api/posts/:id …
 */
export function createRest({ kernel, resolvers = {}, scalars = {} }: RestOptions): ServerModule {
  const { project } = kernel;
  const paths = new Set(restModules(project).map(({ path }) => path));
  const serve = once(() => createEndpoint(createService({ kernel, resolvers, scalars })));
  const document = once(() => describeServer(project, resolvers));
  const endpoint: Middleware = (ctx, next) =>
    paths.has(modulePath(ctx.path)) ? serve()(ctx, next) : next();
  return { name: 'rest', endpoint, routes: documentRoutesOf(document, project.api.path) };
}

/** `/api/posts/7` → `/api/posts` */
const modulePath = (path: string) => path.split('/', 3).join('/');

/** A server is up sooner when what may never be asked for is made when it is. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
