import type { Project } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { TestOptions, TestServer } from '../graphql/harness.ts';
import { startMcp } from '../mcp/server.ts';

/** A server whose `query` calls the tool `execute` of `/mcp`, and answers as `/graphql` would. */
export async function startBehindMcp(sdl: string, options: TestOptions): Promise<TestServer> {
  const { change = (project: Project) => project } = options;
  const server = await startMcp(sdl, {
    ...options,
    change: (project) => withTools(change(project)),
  });
  return {
    ...server,
    query: async (query, variables = {}, as) => {
      const { status, body } = await server.call('POST', '/mcp', {
        headers: { 'mcp-protocol-version': '2025-11-25' },
        body: message({ operation: query, variables }),
        ...(as && { as: withScopes(as) }),
      });
      if (status !== 200) return { errors: [{ ...body.error, extensions: body.error.data }] };
      const { isError, structuredContent, content } = body.result;
      return isError ? JSON.parse(content[0].text) : { data: structuredContent };
    },
  };
}

const withTools = (project: Project): Project => ({
  ...project,
  api: { ...project.api, mcp: { tools: 'explore', writes: true, path: '/mcp', result: 1 << 26 } },
});

const message = (args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'execute', arguments: args },
});

/** A key without these scopes is refused before it can ask anything. */
const withScopes = (caller: Principal): Principal =>
  caller.kind === 'api_key'
    ? { ...caller, scopes: [...caller.scopes, 'mcp:read', 'mcp:write'] }
    : caller;
