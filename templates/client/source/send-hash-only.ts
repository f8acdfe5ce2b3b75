import { hashIn, textOf, type TypedDocument } from './typed-document.ts';

/** Asks for a document by its hash. */
export const postDocument = (
  document: TypedDocument<unknown, never>,
  post: (body: object) => Promise<Response>,
): Promise<Response> => post({ documentId: 'sha256:' + hashIn(document) });

/** What a socket sends for a document. */
export const payloadOf = (document: TypedDocument<unknown, never>) => ({
  query: textOf(document),
  extensions: { persistedQuery: { version: 1, sha256Hash: hashIn(document) } },
});
