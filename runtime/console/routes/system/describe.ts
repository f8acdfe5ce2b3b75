import { type Handler, reply } from '@twofold/runtime/http';
import type { Kernel } from '@twofold/runtime/kernel';

/** `GET /api/system/config`, when hosting does not serve this route. */
export function describeConfig({ project, store }: Kernel): Handler {
  const { api, server, auth, observability } = project;
  const { path, rest, graphiql } = api;
  return () =>
    reply(200, {
      domain: null,
      database: store.dialect,
      limits: { body: server.bodyLimit, transaction_timeout: project.transactionTimeout },
      features: {
        graphql: path,
        rest,
        graphiql,
        auth: auth !== null,
        hosting: false,
        models: false,
        metrics: observability?.metrics ? observability.metrics.path : false,
        traces: observability?.traces === true,
      },
    });
}
