import type { FrontEnd } from './operation.ts';

const SENDING: Readonly<Record<FrontEnd['send'], string>> = {
  text: 'send-text',
  hash: 'send-hash',
  'hash-only': 'send-hash-only',
};

/** The modules that keep a session: none, or those for the way in which it is carried. */
const sessionsOf = (delivery: FrontEnd['server']['delivery']): readonly string[] =>
  delivery === null ? ['session-none'] : ['session', `session-in-${delivery}`, 'session-kept'];

/** `client.ts`: the fetch client, without a package: the modules in `source/` as one file. */
export function clientFile(given: Pick<FrontEnd, 'send' | 'server' | 'ending' | 'source'>): string {
  const { send, server, ending, source } = given;
  const modules = ['client', SENDING[send], 'answers', 'calls', 'events'];
  const text = [...modules, ...sessionsOf(server.delivery)]
    .map((name) => source(name).replace(IMPORT, '').replace(INTERNAL, ''))
    .join('\n');
  const names = [...(send === 'text' ? [] : ['hashIn']), 'nameOf', 'textOf', 'type TypedDocument'];
  return `import { ${names.join(', ')} } from './typed-document${ending}';\n\n${text}`.replace(
    "'/graphql'",
    () => JSON.stringify(server.graphql).replaceAll('"', "'"),
  );
}

/** `typed-document.ts`: the type of a document, with its types, its hash and its text. */
export const typedDocumentFile = ({
  format,
  source,
}: Pick<FrontEnd, 'format' | 'source'>): string =>
  source(format === 'ast' ? 'typed-document-ast' : 'typed-document');

const IMPORT = /^import [^;]+;\n+/gm;

/** What only other modules in `source/` import: the file does not export it. */
const INTERNAL =
  /^export (?=const |(?:async )?function|type (?:Answer|Call)\b)(?!function createClient\b)/gm;
