import { openapiDocument } from '@twofold/schema';
import type { Kernel, ServerModule } from '../module.ts';
import type { Resolvers, ScalarMapping } from '../plugin.ts';
import { documentRoutesOf } from './document.ts';
import { createEndpoint } from './endpoint.ts';
import { createService, ownsIn } from './service.ts';

export interface RestOptions {
  readonly kernel: Kernel;
  /** The user's functions by type and field, the same that GraphQL has. */
  readonly resolvers?: Resolvers;
  readonly scalars?: Readonly<Record<string, ScalarMapping>>;
  /** The document to serve; made from the project when absent. */
  readonly openapi?: Readonly<Record<string, unknown>>;
}

/**
 * The REST modules: for each entity the calls that the schema's root fields allow, with the plans, rules, functions and
 * events of GraphQL. And the document about every endpoint of the server.
 *
 * @throws ConfigError for a scalar mapping that cannot be used.
 * @example createRest({ kernel, resolvers }) // GET /api/posts, POST /api/posts, GET /api/posts/:id …
 */
export function createRest({ kernel, resolvers = {}, scalars = {}, openapi }: RestOptions): ServerModule {
  const service = createService({ kernel, resolvers, scalars });
  const { api } = kernel.project;
  const document = once(() => openapi ?? openapiDocument(kernel.project, ownsIn(resolvers)));
  return { name: 'rest', endpoint: createEndpoint(service), routes: documentRoutesOf(document, api.path) };
}

/** Most servers are never asked for it. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
