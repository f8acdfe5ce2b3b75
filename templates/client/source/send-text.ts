import { textOf, type TypedDocument } from './typed-document.ts';

/** Asks for a document by its text. */
export const postDocument = (
  document: TypedDocument<unknown, never>,
  post: (body: object) => Promise<Response>,
): Promise<Response> => post({ query: textOf(document) });

/** What a socket sends for a document. */
export const payloadOf = (document: TypedDocument<unknown, never>) => ({ query: textOf(document) });
