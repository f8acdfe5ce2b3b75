import type { App } from './app.ts';
import { resolversOf } from './boot.ts';

/**
 * The text that `/api/openapi.json` answers, byte by byte. No setting is read and no database opened. What `generator
 * openapi` prints; without `api.rest` a server does not serve it, and it holds the endpoints that are left.
 *
 * @example JSON.parse(await openapiOfApp(app)).paths['/api/posts']
 */
export async function openapiOfApp(app: App): Promise<string> {
  const { describeServer, printDocument } = await import('./rest/document.ts');
  return printDocument(describeServer(app.project, resolversOf(app)));
}
