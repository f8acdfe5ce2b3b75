import { clientFile, typedDocumentFile } from './client-file.ts';
import { documentsFile } from './documents-file.ts';
import { graphqlFile } from './graphql-file.ts';
import type { FrontEnd } from './operation.ts';

/** The files of a front end, by their name in its folder. */
export const clientFiles: Readonly<Record<string, (given: FrontEnd) => string>> = {
  '.gitattributes': () => '* merge=union linguist-generated\n',
  'client.ts': clientFile,
  'documents.ts': documentsFile,
  'graphql.ts': graphqlFile,
  'index.ts': indexFile,
  'typed-document.ts': typedDocumentFile,
};

function indexFile({ ending, server }: FrontEnd): string {
  const types = [
    'CallOptions',
    'Client',
    'ClientOptions',
    'CutList',
    'ErrorCode',
    'GraphQLProblem',
    'Result',
    ...(server.delivery === null ? [] : ['Session', 'SignInStep', 'Store']),
    'SocketClient',
  ].sort();
  return `export { ApiError, createClient } from './client${ending}';
export type { ${types.join(', ')} } from './client${ending}';
export * from './documents${ending}';
export { graphql, hashOf } from './graphql${ending}';
export type { TypedDocument } from './typed-document${ending}';
`;
}
