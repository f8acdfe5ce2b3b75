import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { GraphqlModule } from '../../runtime/core/graphql/index.ts';
import { createMcp, type McpOptions } from '../../runtime/core/mcp/index.ts';
import { startServer, type TestOptions, type TestServer } from '../graphql/harness.ts';

/** A server with `/mcp`, over the harness of GraphQL: callers travel in a header. */
export const startMcp = (
  sdl: string,
  { live, ...options }: TestOptions & Pick<McpOptions, 'live'> = {},
): Promise<TestServer> =>
  startServer(sdl, {
    ...options,
    also: (kernel, module) =>
      createMcp({ kernel, service: (module as GraphqlModule).service, ...(live && { live }) }),
  });

export const ERAS = ['2026-07-28', '2025-11-25'] as const;
export type ClientEra = (typeof ERAS)[number];

/** What the clients of both eras have in common. */
export interface McpClient {
  listTools(params?: { cursor?: string }): Promise<{ tools: any[]; nextCursor?: string }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<any>;
  close(): Promise<void>;
}

/** A client of the SDK of that era, connected. */
export async function connectMcp(
  url: string,
  era: ClientEra,
  headers: Record<string, string> = {},
): Promise<McpClient> {
  const info = { name: 'test', version: '1.0.0' };
  if (era === '2026-07-28') {
    const client = new ModernClient(info, { versionNegotiation: { mode: { pin: era } } });
    await client.connect(new ModernHttp(new URL(url), { requestInit: { headers } }));
    return client as unknown as McpClient;
  }
  const client = new LegacyClient(info);
  await client.connect(new LegacyHttp(new URL(url), { requestInit: { headers } }) as never);
  return client as unknown as McpClient;
}
