import { jobRoutes, openapiDocument, opens, type Project, type RouteSpec } from '@twofold/schema';
import type { Resolvers } from '../plugin.ts';
import { describeRoutes, NO_ROUTES, type OwnRoutes } from '../routes/index.ts';
import { ownsIn } from './owns-in.ts';

export type Document = Readonly<Record<string, unknown>>;

/** The parts of a document besides the routes of the model. */
export interface Described {
  readonly routes?: OwnRoutes | undefined;
  /** The flows of its capabilities. */
  readonly flows?: readonly RouteSpec[];
  /** Whether the project has jobs. */
  readonly jobs?: boolean;
  /** Whether it includes `/api/data`; when absent, the manifest decides. */
  readonly adminData?: boolean;
}

/** Describes every endpoint of a server, including fields that its own resolvers answer. */
export function describeServer(
  project: Project,
  resolvers: Resolvers,
  { routes = NO_ROUTES, flows = [], jobs = false, adminData }: Described = {},
): Document {
  const entities = new Set(project.api.rest ? project.entities.map(({ name }) => name) : []);
  const own = describeRoutes(routes, entities);
  const ofJobs = jobs && opens(project, 'jobs') ? jobRoutes : [];
  return openapiDocument(project, ownsIn(resolvers), {
    ...{ ownRoutes: [...ofJobs, ...own], flows },
    ...(adminData !== undefined && { adminData }),
  });
}

/** The bytes of `/api/openapi.json`. */
export const printDocument = (document: Document): string => JSON.stringify(document);
