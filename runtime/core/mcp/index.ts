import type { Project } from '@twofold/schema';
import type { Service } from '../graphql/service.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { createChallenge } from './challenge.ts';
import { createEndpoint, createErrorForm } from './endpoint.ts';
import { createExplore } from './explore/index.ts';
import type { ToolSource } from './tool-source.ts';

export interface McpOptions {
  readonly kernel: Kernel;
  /** The service of `/graphql`, which runs every operation here too. */
  readonly service: Service;
}

/** `api.mcp`: the API as tools of language models. */
export function createMcp({ kernel, service }: McpOptions): ServerModule {
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
    sources: sourcesOf(project, service),
    challenge: createChallenge(project, mcp, appUrl),
    site: { appUrl, cors: project.server.cors, production: settings.production },
  };
  return {
    name: 'mcp',
    endpoint: createEndpoint(options),
    errorForm: createErrorForm(options),
  };
}

function sourcesOf({ api }: Project, service: Service): ToolSource[] {
  const { tools } = api.mcp!;
  return [...(tools === 'documents' ? [] : [createExplore(service, api.mcp!)])];
}
