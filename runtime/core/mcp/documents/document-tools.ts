import { type Tool, READS, type ToolHints } from '@twofold/schema/mcp';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import type { Parameters } from '../../graphql/parameters.ts';
import type { Service } from '../../graphql/service.ts';
import { inputSchemaOf, rootFieldsOf } from './input-schema.ts';
import { outputSchemaOf } from './output-schema.ts';
import { type GraphQLSchema, type OperationDefinitionNode, TokenKind } from 'graphql';
import type { Action } from '@twofold/schema';
import { type Engine, isOwn, rootName } from '../../graphql/engine.ts';

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

/** The description or the comment above an operation, else the descriptions of its root fields. */
function descriptionOf(schema: GraphQLSchema, operation: PreparedOperation): string {
  const { node } = operation;
  const above = node.description?.value.trim() ?? commentAbove(node);
  if (above) return above;
  const root = schema.getRootType(node.operation)?.getFields() ?? {};
  const fields = [...new Set(rootFieldsOf(operation).map(({ name }) => name.value))];
  const said = fields.flatMap((name) => root[name]?.description?.trim() || []);
  return said.length > 0 ? said.join('\n') : `The ${node.operation} of ${fields.join(', ')}`;
}

/** The lines of comments that end on the line above an operation. */
function commentAbove({ loc }: OperationDefinitionNode): string {
  const lines: string[] = [];
  let line = loc?.startToken.line ?? 0;
  for (let token = loc?.startToken.prev; token?.kind === TokenKind.COMMENT; token = token.prev) {
    if (token.line !== line - 1) break;
    lines.unshift(token.value.trim());
    line = token.line;
  }
  return lines.join('\n').trim();
}

const CREATES: ReadonlySet<Action['kind']> = new Set(['create', 'createMany']);
const REMOVES: ReadonlySet<Action['kind']> = new Set(['remove', 'removeMany']);

/**
 * What a call may do. A function of the project may do anything, so it counts as one that changes
 * rows.
 */
function hintsOf(engine: Engine, operation: PreparedOperation): ToolHints {
  if (operation.node.operation !== 'mutation') return READS;
  const kinds = rootFieldsOf(operation).map(({ name }) => kindOf(engine, name.value));
  return {
    readOnlyHint: false,
    destructiveHint: !kinds.every((kind) => CREATES.has(kind)),
    idempotentHint: kinds.every((kind) => REMOVES.has(kind)),
    openWorldHint: false,
  };
}

function kindOf(engine: Engine, field: string): Action['kind'] {
  if (isOwn(engine, rootName(engine, 'mutation') ?? '', field)) return 'custom';
  const { operations } = engine.model.project;
  const found = operations.find(({ root, name }) => root === 'mutation' && name === field);
  return found?.action.kind ?? 'custom';
}

/** A document that a front end uses. The generator writes the list of these. */
export interface LiveDocument {
  /** The SHA-256 of its text in the list. */
  readonly hash: string;
  /** The comment above the operation in its source, which the text in the list does not have. */
  readonly description?: string;
}
