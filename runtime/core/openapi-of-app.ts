import type { App } from './app.ts';
import { resolversOf } from './boot.ts';

/**
 * The exact text of `/api/openapi.json`, for `generator openapi`. It reads no settings and opens no
 * database. Without `api.rest`, a server does not serve the document; its text here then lists the
 * remaining endpoints.
 *
 * @example JSON.parse(await openapiOfApp(app)).paths['/api/posts']
 */
export async function openapiOfApp(app: App): Promise<string> {
  const { describeServer, printDocument } = await import('./rest/document.ts');
  return printDocument(describeServer(app.project, resolversOf(app)));
}
