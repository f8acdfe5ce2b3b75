import type { Service } from '../graphql/service.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { createChallenge } from './challenge.ts';
import { createDocuments } from './documents/index.ts';
import type { LiveDocument } from './documents/document-tools.ts';
import { createEndpoint, createErrorForm } from './endpoint.ts';
import { createExplore } from './explore/index.ts';
import type { ToolSource } from './tool-source.ts';

export interface McpOptions {
  readonly kernel: Kernel;
  /** The service of `/graphql`, which runs every operation here too. */
  readonly service: Service;
  /**
   * The documents that the sources of front ends have; absent where the generator does not know.
   */
  readonly live?: readonly LiveDocument[] | undefined;
}

/** `api.mcp`: the API as tools of language models. */
export function createMcp({ kernel, service, live }: McpOptions): ServerModule {
  const { project, settings } = kernel;
  const mcp = project.api.mcp!;
  const appUrl = settings.text('APP_URL');
  if (appUrl === undefined && settings.production)
    settings.problem(
      'api.mcp answers only under the address of the server: set APP_URL to it, as in https://api.example.com',
    );
  const options = {
    project,
    mcp,
    service,
    sources: sourcesOf({ kernel, service, live }),
    challenge: createChallenge(project, mcp, appUrl),
    site: { appUrl, cors: project.server.cors, production: settings.production },
  };
  return {
    name: 'mcp',
    endpoint: createEndpoint(options),
    errorForm: createErrorForm(options),
  };
}

/** The sources of tools. If both are served, the four tools for exploring keep their names. */
function sourcesOf({ kernel, service, live }: McpOptions): ToolSource[] {
  const mcp = kernel.project.api.mcp!;
  return [
    ...(mcp.tools === 'documents' ? [] : [createExplore(service, mcp)]),
    ...(mcp.tools === 'explore' ? [] : [createDocuments({ service, mcp, live })]),
  ];
}
