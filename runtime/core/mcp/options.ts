import type { McpSettings, Project } from '@twofold/schema';
import type { Service } from '../graphql/service.ts';
import type { Challenge } from './challenge.ts';
import type { Site } from './site.ts';
import type { ToolSource } from './tool-source.ts';

/** The parts that all requests share. They are made once. */
export interface EndpointOptions {
  readonly project: Project;
  readonly mcp: McpSettings;
  readonly service: Service;
  readonly sources: readonly ToolSource[];
  readonly challenge: Challenge;
  readonly site: Site;
}
