import { checkMeasures, type Diagnostic, type ListOptions, type Project } from '@twofold/schema';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import type { ClientOperation } from './operations.ts';

/** What the limits measure: an operation, the fragments that it uses, and the text of both. */
export interface MeasuredDocument {
  readonly node: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly text: string;
}

/** DOCUMENT_OVER_LIMIT: operations that a limit of the server would refuse. */
export function overLimits(
  project: Project,
  schema: GraphQLSchema,
  operations: readonly ClientOperation[],
): Diagnostic[] {
  return operations.flatMap((operation) => {
    const { node, text } = operation;
    const fragments = operation.fragments.map((fragment) => fragment.node);
    const problem = limitProblem(project, schema, { node, fragments, text });
    return problem === null ? [] : [overLimit(operation, problem)];
  });
}

/**
 * Why a limit of the server would refuse a valid document; null when none does.
 *
 * @example limitProblem(project, schema, document) // 'the document has 1200 tokens, 1000 are allowed'
 */
export function limitProblem(
  project: Project,
  schema: GraphQLSchema,
  { node, fragments, text }: MeasuredDocument,
): string | null {
  const { limits } = project.api;
  if (tokensOf(text) > limits.tokens)
    return `the document has ${tokensOf(text)} tokens, ${limits.tokens} are allowed`;
  const named = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const over = checkMeasures([node, ...fragments], named, limits);
  if (over) return over.message;
  const pricing: Pricing = {
    project,
    schema,
    cap: limits.list,
    fragmentOf: (name) => named.get(name)?.selectionSet,
    presets: new Map(
      (node.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
        defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
      ),
    ),
  };
  const cost = costOf(node.selectionSet, schema.getRootType(node.operation)!, pricing);
  return cost > limits.cost
    ? `the operation may come to ${cost} objects with default pages, ${limits.cost} are allowed`
    : null;
}

/** The number of tokens, counted by the parser, which refuses one more than it allows. */
function tokensOf(text: string): number {
  return parse(text, { noLocation: true }).tokenCount ?? 0;
}

interface Pricing {
  readonly project: Project;
  readonly schema: GraphQLSchema;
  /** The most rows of a list without a size. */
  readonly cap: number;
  readonly fragmentOf: (name: string) => SelectionSetNode | undefined;
  /** Defaults of variables. */
  readonly presets: ReadonlyMap<string, unknown>;
}

/** The objects that an answer can have: each list multiplied by its size. */
function costOf(set: SelectionSetNode, type: GraphQLNamedType, pricing: Pricing): number {
  let total = 0;
  for (const each of set.selections) {
    if (each.kind === Kind.FIELD) total += costOfField(each, type, pricing);
    else if (each.kind === Kind.FRAGMENT_SPREAD) {
      const body = pricing.fragmentOf(each.name.value);
      if (body) total += costOf(body, type, pricing);
    } else
      total += costOf(
        each.selectionSet,
        narrowed(each.typeCondition?.name.value, type, pricing),
        pricing,
      );
  }
  return total;
}

const narrowed = (on: string | undefined, type: GraphQLNamedType, { schema }: Pricing) =>
  (on === undefined ? undefined : schema.getType(on)) ?? type;

function costOfField(field: FieldNode, type: GraphQLNamedType, pricing: Pricing): number {
  if (!isObjectType(type) && !isInterfaceType(type)) return 0;
  const definition = type.getFields()[field.name.value];
  const named = definition && getNamedType(definition.type);
  if (!field.selectionSet || !isCompositeType(named)) return 0;
  const inner = costOf(field.selectionSet, named, pricing);
  // Edges and nodes are the rows of the connection, which are already counted there.
  const isRow = type.name.endsWith('Connection') || type.name.endsWith('Edge');
  if (isRow) return inner;
  const bare = isNonNullType(definition!.type) ? definition!.type.ofType : definition!.type;
  const isMany = isListType(bare) || named.name.endsWith('Connection');
  return (isMany ? sizeOf(field, type, pricing) : 1) * (1 + inner);
}

const SIZES = new Set(['first', 'last', 'limit', 'take']);

/** The size that the document or a default gives; without one the page of the list, or the cap. */
function sizeOf(field: FieldNode, type: GraphQLNamedType, pricing: Pricing): number {
  const paging = listOf(field.name.value, type, pricing)?.paging;
  const sizes = (field.arguments ?? [])
    .filter(({ name }) => SIZES.has(name.value))
    .map(({ value }) =>
      value.kind === Kind.VARIABLE
        ? pricing.presets.get(value.name.value)
        : valueFromASTUntyped(value),
    );
  const given = sizes.find((size) => typeof size === 'number');
  const size = typeof given === 'number' ? given : (paging?.default ?? pricing.cap);
  return Math.min(size, paging?.max ?? Infinity);
}

function listOf(
  name: string,
  type: GraphQLNamedType,
  { project, schema }: Pricing,
): ListOptions | undefined {
  const source = project.entities
    .find((entity) => entity.name === type.name)
    ?.fields.find((field) => field.name === name)?.source;
  if (source) return source.kind === 'many' ? source.list : undefined;
  if (type !== schema.getQueryType()) return undefined;
  const action = project.operations.find(
    (operation) => operation.root === 'query' && operation.name === name,
  )?.action;
  return action?.kind === 'list' || action?.kind === 'listAbstract' ? action.list : undefined;
}

const overLimit = ({ name, at }: ClientOperation, problem: string): Diagnostic => ({
  code: 'DOCUMENT_OVER_LIMIT',
  severity: 'error',
  summary: `${name} would be refused: ${problem}`,
  fix: 'ask for less at once, or raise the limit under api.limits in the manifest',
  at,
});
