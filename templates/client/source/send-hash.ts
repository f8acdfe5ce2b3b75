import { bodyOf } from './answers.ts';
import { hashIn, textOf, type TypedDocument } from './typed-document.ts';

/** Asks for a document by its hash, and with its text if the server does not know the hash. */
export async function postDocument(
  document: TypedDocument<unknown, never>,
  post: (body: object) => Promise<Response>,
): Promise<Response> {
  const documentId = 'sha256:' + hashIn(document);
  const response = await post({ documentId });
  if (response.status !== 400) return response;
  const isUnknown = (await bodyOf(response.clone())).includes('PERSISTED_QUERY_NOT_FOUND');
  return isUnknown ? post({ documentId, query: textOf(document) }) : response;
}

/** What a socket sends for a document. */
export const payloadOf = (document: TypedDocument<unknown, never>) => ({
  query: textOf(document),
  extensions: { persistedQuery: { version: 1, sha256Hash: hashIn(document) } },
});
