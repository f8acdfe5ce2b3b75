import { documentRoutes } from '@twofold/schema';
import { AppError } from '../errors.ts';
import { bindRoutes, type BoundRoute, reply } from '../http/route.ts';
import type { Document } from './document.ts';
import { etagOf, hasTag } from './etag.ts';

/** `GET /api/openapi.json`, and `GET /api` as a page for people. */
export function documentRoutesOf(
  document: () => Promise<Document>,
  graphqlPath: string,
): BoundRoute[] {
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
