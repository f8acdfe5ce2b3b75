import type { FrontEnd } from './operation.ts';
import { typeName } from './type-name.ts';

/** `graphql.ts`: finds a document by the text that it has in code, and a hash by a document. */
export function graphqlFile({ operations, fragments, ending }: FrontEnd): string {
  const inCode = [
    ...operations.map(({ name, inCode: text }) => ({
      name,
      text,
      constant: `${typeName(name)}Document`,
    })),
    ...fragments.map(({ name, inCode: text }) => ({
      name: `fragment ${name}`,
      text,
      constant: `${typeName(name)}FragmentDoc`,
    })),
  ].filter(({ text }) => text !== null);
  const constants = inCode.map(({ constant }) => constant).sort();
  const imports = constants.map((constant) => `  ${constant},\n`).join('');
  const entries = inCode
    .map(({ name, constant }) => `  ${keyOf(name, `'${name}'`)}: ${constant},\n`)
    .join('');
  const overloads = inCode.map(
    ({ text, constant }) =>
      `export function graphql(source: ${JSON.stringify(text)}): typeof ${constant};\n`,
  );
  const hashes = operations.map(({ name, hash }) => `  ${keyOf(name)}: '${hash}',\n`).join('');
  return `${imports && `import {\n${imports}} from './documents${ending}';\n\n`}/** Documents of code, by the name of the first operation in their text. */
const documents: { readonly [name: string]: unknown } = {${entries && `\n${entries}`}};

/** The SHA-256 of each document, by the name of its operation. */
const hashes: { readonly [name: string]: string } = {${hashes && `\n${hashes}`}};

/** The typed document of a text in code. A text that the last run did not see is a type error. */
${overloads.join('') || 'export function graphql(source: never): never;\n'}export function graphql(source: string): unknown {
${GRAPHQL}}

/** The hash of a document by the name of its operation, also of a copy that a cache has changed. */
export function hashOf(document: object): string {
${HASH_OF}}
`;
}

/** `__proto__` as a plain key would set the prototype of the object. */
const keyOf = (name: string, key = name) => (name === '__proto__' ? `['${name}']` : key);

const GRAPHQL = String.raw`  let outline = source.replace(/"""[^]*?"""|"(?:\\.|[^"\\])*"|#.*/g, '');
  for (let before = ''; before !== outline;) {
    before = outline;
    outline = outline.replace(/\{[^{}]*\}|\([^()]*\)/g, ' ');
  }
  const [, operation] = /\b(?:query|mutation|subscription)\s+(\w+)/.exec(outline) ?? [];
  const [fragment = ''] = /\bfragment\s+\w+/.exec(outline) ?? [];
  const found = documents[operation ?? fragment.replace(/\s+/, ' ')];
  if (!found) throw new Error('graphql() does not know this text: generate the client again');
  return found;
`;

const HASH_OF = String.raw`  const { name, definitions = [] } = document as {
    readonly name?: string;
    readonly definitions?: ReadonlyArray<{ readonly kind: string; readonly name?: { readonly value: string } }>;
  };
  const operation = definitions.find(({ kind }) => kind === 'OperationDefinition')?.name?.value;
  const hash = hashes[name ?? operation ?? ''];
  if (!hash) throw new Error('hashOf() does not know this document: generate the client again');
  return hash;
`;
