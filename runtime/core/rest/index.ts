import {
  adminModules,
  restModules,
  restRoutes,
  ADMIN_DATA,
  adminDataRoutes,
  documentRoutes,
} from '@twofold/schema';
import type { Middleware } from 'koa';
import { type Guard, bindRoutes, type BoundRoute, reply } from '../http/route.ts';
import type { Kernel, ServerModule } from '../module.ts';
import type { Engine } from '../graphql/engine.ts';
import { onFirstUse } from './on-first-use.ts';
import { ownsIn } from './owns-in.ts';
import type { AdminData } from './admin-data.ts';
import { AppError } from '../errors.ts';
import type { Described, Document } from './document.ts';
import { etagOf, hasTag } from './etag.ts';

export interface RestOptions {
  readonly kernel: Kernel;
  /** The engine of GraphQL, which answers REST too. */
  readonly engine: Engine;
  /** What the OpenAPI document has besides the model. It is read when that is first requested. */
  readonly described?: () => Described;
  /** The guards of `/api/data`; absent when the server does not have it. */
  readonly adminData?: Readonly<Record<string, Guard>>;
}

/**
 * The REST module: for each entity the operations that the schema's root fields allow, with the
 * plans, rules, resolvers and events of GraphQL. It also serves the OpenAPI document of the whole
 * server.
 *
 * @example createRest({ kernel, engine }) // GET /api/posts, POST /api/posts, GET /api/posts/:id …
 */
export function createRest({
  kernel,
  engine,
  described,
  adminData: guards,
}: RestOptions): ServerModule {
  const { project } = kernel;
  const { resolvers } = engine;
  const modules = project.api.rest ? restModules(project) : [];
  const paths = new Set(modules.map(({ path }) => path));
  const opened = once(async () => {
    const { withAddedFields } = await import('./added-fields.ts');
    const every = guards ? adminModules(project, engine.schema) : [];
    return { engine: withAddedFields(engine, [...modules, ...every]), every };
  });
  const serve = onFirstUse(async () => {
    const { openEndpoint } = await import('./endpoint.ts');
    return openEndpoint({ engine: (await opened()).engine, modules });
  });
  const admin =
    guards &&
    adminDataRoutesOf(async () => {
      const { createAdminData } = await import('./admin-data.ts');
      const { engine: extended, every } = await opened();
      return createAdminData({ kernel, engine: extended, modules: every, guards });
    });
  const document = once(async () => {
    const { describeServer } = await import('./document.ts');
    return describeServer(project, resolvers, { ...described?.(), adminData: !!admin });
  });
  const endpoint: Middleware = (ctx, next) => {
    // Koa parses the address each time `ctx.path` is read.
    if (!ctx.req.url?.includes('/api/')) return next();
    if (paths.has(modulePath(ctx.path))) return serve(ctx, next);
    return admin ? admin.endpoint(ctx, next) : next();
  };
  return {
    name: 'rest',
    endpoint,
    routes: [...documentRoutesOf(document, project.api.path), ...(admin?.routes ?? [])],
    generated: () => (project.api.rest ? restRoutes(project, ownsIn(resolvers)) : []),
  };
}

/** `/api/posts/7` → `/api/posts` */
const modulePath = (path: string) => path.split('/', 3).join('/');

/** Makes a value on first use, so that the server starts sooner. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** The routes of `/api/data`. Their code is loaded with the first request. */
function adminDataRoutesOf(open: () => Promise<AdminData>): {
  readonly endpoint: Middleware;
  readonly routes: readonly BoundRoute[];
} {
  const load = once(open);
  const below = onFirstUse(async () => (await load()).endpoint);
  return {
    routes: bindRoutes(adminDataRoutes, {
      adminDataTypes: async (call) => (await load()).types(call),
    }),
    endpoint: (ctx, next) => (ctx.path.startsWith(`${ADMIN_DATA}/`) ? below(ctx, next) : next()),
  };
}

/** `GET /api/openapi.json`, and `GET /api` as a page for people. */
function documentRoutesOf(document: () => Promise<Document>, graphqlPath: string): BoundRoute[] {
  const texts: { json?: string; page?: string } = {};
  return bindRoutes(documentRoutes, {
    openapi: async ({ koa }) => {
      const text = (texts.json ??= JSON.stringify(await document()));
      const headers = {
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-cache',
        ETag: etagOf(text),
      };
      return hasTag(koa.get('If-None-Match'), headers.ETag, true)
        ? reply(304, undefined, headers)
        : reply(200, text, headers);
    },
    reference: async ({ koa }) => {
      koa.vary('Accept');
      if (!koa.accepts('html'))
        throw new AppError(
          406,
          'NOT_ACCEPTABLE',
          'This page is text/html; the document is /api/openapi.json',
        );
      return reply(200, (texts.page ??= await pageOf(await document(), graphqlPath)), {
        'Content-Type': 'text/html; charset=utf-8',
        'Cache-Control': 'no-cache',
      });
    },
  });
}

/** The code that prints the page is loaded with the first request. */
async function pageOf(document: Document, graphqlPath: string): Promise<string> {
  const { renderReference } = await import('./reference.ts');
  return renderReference(document, graphqlPath);
}
