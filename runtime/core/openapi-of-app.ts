import type { App } from './app.ts';
import { collectRoutes, NO_ROUTES, type OwnRoutes } from './routes/index.ts';
import { declaredBy, flowsOf, hasJobs, resolversOf } from './boot.ts';

/**
 * The exact text of `/api/openapi.json`, for `generator openapi`. It reads no settings and opens no
 * database. A server without `api.rest` and own routes does not serve the document; its text here
 * then lists the remaining endpoints.
 *
 * @example JSON.parse(await openapiOfApp(app)).paths['/api/posts']
 */
export async function openapiOfApp(app: App): Promise<string> {
  const { describeServer, printDocument } = await import('./rest/document.ts');
  return printDocument(
    describeServer(app.project, resolversOf(app), {
      routes: await routesOf(app),
      flows: flowsOf(app),
      jobs: hasJobs(app),
    }),
  );
}

/** The own routes, collected without a server. */
async function routesOf(app: App): Promise<OwnRoutes> {
  const declare = declaredBy(app);
  if (declare.length === 0) return NO_ROUTES;
  const { buildSchema } = await import('graphql');
  const { createInputTypes } = await import('./graphql/input-types.ts');
  const schema = buildSchema(app.project.sdl, { assumeValid: true, noLocation: true });
  const { bodyLimit } = app.project.server;
  const inputs = createInputTypes(schema);
  return collectRoutes({ bodyLimit, inputs, enforceRate: undefined, now: Date.now }, declare);
}
