import type { Tool } from '@twofold/schema/mcp';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import type { Parameters } from '../../graphql/parameters.ts';
import type { Service } from '../../graphql/service.ts';
import { descriptionOf } from './description.ts';
import { hintsOf } from './hints.ts';
import type { LiveDocument } from './live-document.ts';
import { inputSchemaOf } from './input-schema.ts';
import { outputSchemaOf } from './output-schema.ts';

/** A document as a tool. */
export interface DocumentTool {
  readonly tool: Tool;
  readonly text: string;
  /** Names of its variables. */
  readonly variables: ReadonlySet<string>;
  readonly writes: boolean;
}

/**
 * The documents as tools, sorted by name. If several have the same name, the first becomes a tool.
 * Documents that are no longer valid, subscriptions, and operations without a name become none.
 */
export function toolsOfDocuments(
  service: Service,
  live: readonly LiveDocument[] | undefined,
): readonly DocumentTool[] {
  const tools = new Map<string, DocumentTool>();
  for (const { text, description } of textsOf(service, live))
    for (const operation of operationsIn(service, text)) {
      const name = operation.node.name?.value;
      if (name === undefined || tools.has(name) || operation.node.operation === 'subscription')
        continue;
      tools.set(name, toolOf(service, operation, { name, text, description }));
    }
  return [...tools.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
}

interface NamedText {
  readonly name: string;
  readonly text: string;
  readonly description: string | undefined;
}

function textsOf(
  { source }: Service,
  live: readonly LiveDocument[] | undefined,
): readonly Omit<NamedText, 'name'>[] {
  if (!live) return [...source.listed].map((text) => ({ text, description: undefined }));
  return live.flatMap(({ hash, description }) => {
    const text = listedText(source, hash);
    return text === undefined ? [] : [{ text, description }];
  });
}

/**
 * Undefined for a document that was taken out of the list by hand: clients cannot run it either.
 */
function listedText(source: Service['source'], hash: string): string | undefined {
  try {
    return source.textOf({ ...NO_PARAMETERS, documentId: hash });
  } catch {
    return undefined;
  }
}

const NO_PARAMETERS: Parameters = {
  query: undefined,
  operationName: undefined,
  variables: {},
  extensions: {},
  documentId: undefined,
};

const operationsIn = ({ documents }: Service, text: string): readonly PreparedOperation[] =>
  documents.get(text).prepared?.operations ?? [];

function toolOf(
  { engine }: Service,
  operation: PreparedOperation,
  { name, text, description }: NamedText,
): DocumentTool {
  const { node } = operation;
  return {
    tool: {
      name,
      description: description ?? descriptionOf(engine.schema, operation),
      inputSchema: inputSchemaOf(engine, operation),
      outputSchema: outputSchemaOf(engine, operation),
      annotations: hintsOf(engine, operation),
    },
    text,
    variables: new Set((node.variableDefinitions ?? []).map(({ variable }) => variable.name.value)),
    writes: node.operation === 'mutation',
  };
}
