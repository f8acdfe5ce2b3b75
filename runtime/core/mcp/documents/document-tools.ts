import {
  type GraphQLSchema,
  type OperationDefinitionNode,
  TokenKind,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { type Tool, READS, type ToolHints } from '@twofold/schema/mcp';
import type { Action, JsonSchema } from '@twofold/schema';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import type { Parameters } from '../../graphql/parameters.ts';
import type { Service } from '../../graphql/service.ts';
import { inputSchemaOf, rootFieldsOf, leafOf, orNull } from './input-schema.ts';
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

/** The most objects that a schema describes. Objects below them are described only as objects. */
const MOST_OBJECTS = 500;

interface Describing {
  readonly engine: Engine;
  readonly fragments: PreparedOperation['fragments'];
  /** Objects that may still be described. */
  left: number;
}

/** The data of an operation as JSON Schema: its selection, by the names in the answer. */
function outputSchemaOf(engine: Engine, { node, fragments }: PreparedOperation): JsonSchema {
  const root = engine.schema.getRootType(node.operation)!;
  const describing = { engine, fragments, left: MOST_OBJECTS };
  return objectSchema(describing, root, [node.selectionSet]);
}

/** A name in the answer, and every selection that it merges. */
interface Selected {
  readonly field: FieldNode;
  readonly below: SelectionSetNode[];
  /** Whether the field may be absent because of `@skip` and `@include`. */
  optional: boolean;
}

function objectSchema(
  describing: Describing,
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
): JsonSchema {
  if (describing.left-- <= 0) return { type: 'object' };
  const selected = new Map<string, Selected>();
  for (const each of selections) collect(describing, type, { within: each, selected });
  const properties = [...selected].map(
    ([key, { field, below }]) => [key, fieldSchema(describing, type, field, below)] as const,
  );
  const required = [...selected].filter(([, { optional }]) => !optional).map(([key]) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

interface Collecting {
  readonly within: SelectionSetNode;
  readonly selected: Map<string, Selected>;
  readonly optional?: boolean;
}

/** Adds to `selected` each field that the selection has for an object of `type`, by its key in the answer. */
function collect(
  describing: Describing,
  type: GraphQLObjectType,
  { within, selected, optional = false }: Collecting,
): void {
  for (const selection of within.selections) {
    const decided = optional || isConditional(selection);
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const known = selected.get(key) ?? { field: selection, below: [], optional: true };
      known.optional &&= decided;
      if (selection.selectionSet) known.below.push(selection.selectionSet);
      selected.set(key, known);
      continue;
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : describing.fragments.get(selection.name.value);
    if (fragment && applies(describing, type, fragment.typeCondition?.name.value))
      collect(describing, type, { within: fragment.selectionSet, selected, optional: decided });
  }
}

const isConditional = ({ directives = [] }: Pick<FieldNode, 'directives'>): boolean =>
  directives.some(({ name }) => name.value === 'skip' || name.value === 'include');

function applies(
  { engine: { schema } }: Describing,
  type: GraphQLObjectType,
  condition: string | undefined,
): boolean {
  if (condition === undefined || condition === type.name) return true;
  const wanted = schema.getType(condition);
  return isAbstractType(wanted) && schema.isSubType(wanted, type);
}

function fieldSchema(
  describing: Describing,
  parent: GraphQLObjectType,
  { name }: FieldNode,
  below: readonly SelectionSetNode[],
): JsonSchema {
  if (name.value === '__typename') return { type: 'string', const: parent.name };
  const field = describing.engine.schema.getField(parent, name.value);
  if (!field) return {};
  const schema = typeSchema(describing, field.type, below);
  return field.description ? { ...schema, description: field.description } : schema;
}

function typeSchema(
  describing: Describing,
  type: GraphQLOutputType,
  below: readonly SelectionSetNode[],
): JsonSchema {
  if (isNonNullType(type)) return nonNull(describing, type.ofType, below);
  return orNull(nonNull(describing, type, below));
}

function nonNull(
  describing: Describing,
  type: GraphQLOutputType,
  below: readonly SelectionSetNode[],
): JsonSchema {
  const { engine } = describing;
  if (isListType(type)) return { type: 'array', items: typeSchema(describing, type.ofType, below) };
  if (isLeafType(type)) return leafOf(engine, type);
  if (isObjectType(type)) return objectSchema(describing, type, below);
  if (!isAbstractType(type)) return {};
  const texts = engine.schema
    .getPossibleTypes(type)
    .map((each) => JSON.stringify(objectSchema(describing, each, below)));
  const schemas = [...new Set(texts)].map((text) => JSON.parse(text) as JsonSchema);
  return schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
}
