import { documentRoutes, jobRoutes, openapiDocument, opens, type Project } from '@twofold/schema';
import { AppError } from '../errors.ts';
import { bindRoutes, type BoundRoute, reply } from '../http/route.ts';
import { etagOf, hasTag } from './etag.ts';
import type { Resolvers } from '../plugin.ts';
import { describeRoutes, NO_ROUTES, type OwnRoutes } from '../routes/index.ts';
import { renderReference } from './reference.ts';
import { ownsIn } from './service.ts';

type Document = Readonly<Record<string, unknown>>;

/** What a document has besides the routes of the model. */
export interface Described {
  readonly routes?: OwnRoutes | undefined;
  /** Whether the project has jobs. */
  readonly jobs?: boolean;
  /** Whether it has `/api/data`; when absent, whether the manifest ever lets it. */
  readonly adminData?: boolean;
}

/** Describes every endpoint of a server, including fields that its own resolvers answer. */
export function describeServer(
  project: Project,
  resolvers: Resolvers,
  { routes = NO_ROUTES, jobs = false, adminData }: Described = {},
): Document {
  const entities = new Set(project.api.rest ? project.entities.map(({ name }) => name) : []);
  const own = describeRoutes(routes, entities);
  const ofJobs = jobs && opens(project, 'jobs') ? jobRoutes : [];
  return openapiDocument(project, ownsIn(resolvers), {
    ownRoutes: [...ofJobs, ...own],
    ...(adminData !== undefined && { adminData }),
  });
}

/** The bytes of `/api/openapi.json`. */
export const printDocument = (document: Document): string => JSON.stringify(document);

/** `GET /api/openapi.json`, and `GET /api` as a page for people. */
export function documentRoutesOf(document: () => Document, graphqlPath: string): BoundRoute[] {
  const texts: { json?: string; page?: string } = {};
  return bindRoutes(documentRoutes, {
    openapi: ({ koa }) => {
      const text = (texts.json ??= printDocument(document()));
      const headers = {
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-cache',
        ETag: etagOf(text),
      };
      return hasTag(koa.get('If-None-Match'), headers.ETag, true)
        ? reply(304, undefined, headers)
        : reply(200, text, headers);
    },
    reference: ({ koa }) => {
      koa.vary('Accept');
      if (!koa.accepts('html'))
        throw new AppError(
          406,
          'NOT_ACCEPTABLE',
          'This page is text/html; the document is /api/openapi.json',
        );
      return reply(200, (texts.page ??= renderReference(document(), graphqlPath)), {
        'Content-Type': 'text/html; charset=utf-8',
        'Cache-Control': 'no-cache',
      });
    },
  });
}
