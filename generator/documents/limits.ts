import { checkCost, checkMeasures, type Diagnostic, type Project } from '@twofold/schema';
import {
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse,
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
  const cost = checkCost({ schema, model: modelOf(project) }, { node, fragments: named }, {});
  return 'over' in cost ? cost.over.message : null;
}

/** The parts of the project by name, as a server has them. */
const modelOf = (project: Project) => ({
  project,
  entities: new Map(project.entities.map(({ name, fields }) => [name, { fields: byName(fields) }])),
  objects: byName(project.objects),
  filters: new Map(project.filters.map((shape) => [shape.id, shape])),
  orders: new Map(project.orders.map((shape) => [shape.id, shape])),
  operations: new Map(project.operations.map((each) => [`${ROOTS[each.root]}.${each.name}`, each])),
});

const ROOTS = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

const byName = <T extends { readonly name: string }>(all: readonly T[]) =>
  new Map(all.map((each) => [each.name, each]));

/** The number of tokens, counted by the parser, which refuses one more than it allows. */
function tokensOf(text: string): number {
  return parse(text, { noLocation: true }).tokenCount ?? 0;
}

const overLimit = ({ name, at }: ClientOperation, problem: string): Diagnostic => ({
  code: 'DOCUMENT_OVER_LIMIT',
  severity: 'error',
  summary: `${name} would be refused: ${problem}`,
  fix: 'ask for less at once, or raise the limit under api.limits in the manifest',
  at,
});
