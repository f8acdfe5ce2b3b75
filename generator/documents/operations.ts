import { createHash } from 'node:crypto';
import { remembered, type Diagnostic, type Position, locationOf } from '@twofold/schema';
import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  parse,
  print,
  Source,
  visit,
  type DefinitionNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { typeName } from '../../templates/client/type-name.ts';
import { descriptionOf, spreadsWithin, type FoundDefinition } from './found-definition.ts';
import { placeIn, type DocumentText } from './document-text.ts';
import { invalidIn, nameTaken, notStatic, syntaxProblem, unnamed, unexpected } from './findings.ts';
import { withTypenames } from './typenames.ts';

/** An operation that a client sends. */
export interface ClientOperation {
  readonly name: string;
  readonly kind: `${OperationTypeNode}`;
  /** What the client sends, to the byte: the operation and the fragments that it uses, by name. */
  readonly text: string;
  /** The SHA-256 of `text`, 64 digits. */
  readonly hash: string;
  /** The description, or the comment, above the operation. */
  readonly description: string | null;
  readonly node: OperationDefinitionNode;
  /** The fragments that it uses, also those that others of them use, by name. */
  readonly fragments: readonly ClientFragment[];
  readonly at: Position;
  readonly source: DocumentText;
}

/** A fragment. Every operation of the same front end may use it. */
export interface ClientFragment {
  readonly name: string;
  readonly description: string | null;
  readonly node: FragmentDefinitionNode;
  /** The fragments that it uses, directly or not, by name. */
  readonly uses: readonly string[];
  readonly at: Position;
  readonly source: DocumentText;
}

/** The documents of one front end, sorted by name. */
export interface Documents {
  readonly operations: readonly ClientOperation[];
  readonly fragments: readonly ClientFragment[];
  readonly findings: readonly Diagnostic[];
}

export interface ReadingOptions {
  /** Whether `__typename` is selected everywhere except at the root. `format: ast` needs it. */
  readonly typenames: boolean;
}

/**
 * Parses the texts of a front end and checks them against the schema that is served, or against
 * none if it is null. Each operation becomes a document of its own. All mistakes are reported at
 * once.
 *
 * @example
 * readOperations(schema, texts, { typenames: false }).operations[0].hash // '8a5f…'
 */
export function readOperations(
  schema: GraphQLSchema | null,
  texts: readonly DocumentText[],
  { typenames }: ReadingOptions,
): Documents {
  const parsed = texts.map(parseText);
  const found = parsed.flatMap(({ definitions }) => definitions);
  const findings = [
    ...parsed.flatMap((each) => each.findings),
    ...found.filter(({ node }) => isUnnamed(node)).map(unnamed),
    ...takenNames(found),
  ];
  const nodes = found.map(({ node }) => node);
  if (schema) findings.push(...invalidIn(schema, nodes, placesOf(found)));
  if (findings.length > 0) return { operations: [], fragments: [], findings };
  const written = typenames ? found.map(withTypename) : found;
  const fragments = fragmentsOf(written);
  return { operations: operationsOf(written, fragments), fragments, findings };
}

/** A text that did not change since the last run is not parsed again. */
const parseText = remembered(parseNow);

function parseNow(source: DocumentText): {
  readonly definitions: readonly FoundDefinition[];
  readonly findings: readonly Diagnostic[];
} {
  if (!source.isStatic) return { definitions: [], findings: [notStatic(source)] };
  if (isEmpty(source.text)) return { definitions: [], findings: [] };
  try {
    const { definitions } = parse(new Source(source.text, source.file));
    const wanted = definitions.filter(isExecutable);
    const others = definitions.filter((each) => !isExecutable(each));
    return {
      definitions: wanted.map((node) => ({ node, source })),
      findings: others.slice(0, 1).map((node) => unexpected(node, source)),
    };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { definitions: [], findings: [syntaxProblem(error, source)] };
  }
}

/** A file that has nothing but comments is no mistake. */
const isEmpty = (text: string) => text.replace(/#.*|[\s,\ufeff]+/g, '') === '';

const isExecutable = (node: DefinitionNode) =>
  node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION;

const isUnnamed = (node: FoundDefinition['node']) => node.name === undefined;

/** The positions of nodes, by the source object that the parser gave them. */
function placesOf(found: readonly FoundDefinition[]) {
  const sources = new Map(found.map(({ node, source }) => [node.loc?.source, source]));
  return (error: GraphQLError): Position | null => {
    const source = sources.get(error.source);
    const [at] = error.locations ?? [];
    const node = error.nodes?.[0];
    const length = node?.loc ? lengthOf(node.loc) : 1;
    return source && at ? placeIn(source, at, length) : null;
  };
}

/** The length of the first word of a node: a whole selection would mark many lines. */
function lengthOf({ startToken }: NonNullable<DefinitionNode['loc']>): number {
  return startToken.end - startToken.start;
}

/** One error for each operation or fragment whose name another one has as well. */
function takenNames(found: readonly FoundDefinition[]): Diagnostic[] {
  const named = found.filter(({ node }) => !isUnnamed(node));
  const groups = Map.groupBy(named, ({ node }) => `${node.kind} ${typeName(node.name!.value)}`);
  return [...groups.values()].filter((group) => group.length > 1).flatMap(nameTaken);
}

const withTypename = remembered((found: FoundDefinition): FoundDefinition => ({
  ...found,
  node: withTypenames(found.node),
}));

function fragmentsOf(found: readonly FoundDefinition[]): ClientFragment[] {
  const nodes = new Map<string, FoundDefinition & { readonly node: FragmentDefinitionNode }>();
  for (const each of found)
    if (each.node.kind === Kind.FRAGMENT_DEFINITION)
      nodes.set(each.node.name.value, { ...each, node: each.node });
  return [...nodes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { node, source }]) => ({
      name,
      description: descriptionOf(node),
      node,
      uses: spreadsWithin(node, (each) => nodes.get(each)?.node),
      at: placeOfName({ node, source }),
      source,
    }));
}

function operationsOf(
  found: readonly FoundDefinition[],
  fragments: readonly ClientFragment[],
): ClientOperation[] {
  const byName = new Map(fragments.map((fragment) => [fragment.name, fragment]));
  return found
    .flatMap(({ node, source }) =>
      node.kind === Kind.OPERATION_DEFINITION ? [operationOf(node, source, byName)] : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function operationOf(
  node: OperationDefinitionNode,
  source: DocumentText,
  byName: ReadonlyMap<string, ClientFragment>,
): ClientOperation {
  const used = spreadsWithin(node, (name) => byName.get(name)?.node).flatMap(
    (name) => byName.get(name) ?? [],
  );
  const text = textOf([node, ...used.map((fragment) => fragment.node)]);
  return {
    name: node.name!.value,
    kind: node.operation,
    text,
    hash: hashOf(text),
    description: descriptionOf(node),
    node,
    fragments: used,
    at: placeOfName({ node, source }),
    source,
  };
}

/** Definitions as they are sent: formatted, without comments and descriptions. */
export function textOf(definitions: readonly FoundDefinition['node'][]): string {
  return definitions.map(printed).join('\n\n');
}

const PRINTED = new WeakMap<FoundDefinition['node'], string>();

function printed(node: FoundDefinition['node']): string {
  const known = PRINTED.get(node) ?? print(withoutDescriptions(node));
  PRINTED.set(node, known);
  return known;
}

/** Clients with graphql 16 do not print descriptions, and the server has no use for them. */
function withoutDescriptions<Node extends FoundDefinition['node']>(node: Node): Node {
  return visit(node, {
    OperationDefinition: (each) => ({ ...each, description: undefined }),
    FragmentDefinition: (each) => ({ ...each, description: undefined }),
    VariableDefinition: (each) => ({ ...each, description: undefined }),
  }) as Node;
}

/** The SHA-256 of a text, as the list and the requests of clients name it. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function placeOfName({ node, source }: FoundDefinition): Position {
  const name = node.name!;
  const { line, column } = locationOf(name).startToken;
  return placeIn(source, { line, column }, name.value.length);
}
