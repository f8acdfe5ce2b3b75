import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, type GraphQLSchema, Kind, NoSchemaIntrospectionCustomRule, type OperationDefinitionNode, parse, recommendedRules, specifiedRules, validate, visit } from 'graphql';
import type { ApiLimits } from '@twofold/schema';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { checkMeasures, limitError, measureOperation } from './limits.ts';
import { createPlanCache, type PlanCache } from './plan-cache.ts';

/** A document that was parsed, validated and measured. */
export interface Prepared {
  readonly document: DocumentNode;
  readonly operations: readonly PreparedOperation[];
}

export interface PreparedOperation {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Variables that `@skip` and `@include` name: a plan is made for each of their values. */
  readonly conditions: readonly string[];
  /** Variables that size a list, so that the cost has to be taken for each call; none: it was taken once. */
  readonly sized: boolean;
  readonly plans: PlanCache;
}

export type Lookup = { readonly prepared: Prepared; readonly errors?: never } | { readonly errors: readonly GraphQLError[]; readonly prepared?: never };

export interface DocumentCache {
  get(text: string): Lookup;
  /** For tests and figures: documents that are kept, and the bytes that they and their plans are taken to hold. */
  readonly size: number;
  readonly held: number;
}

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly limits: ApiLimits;
  readonly introspection: boolean;
  readonly suggestions: boolean;
  /** How many documents are kept, and how many bytes of them and their plans. */
  readonly entries?: number;
  readonly bytes?: number;
}

/** What holds a document in memory, as seen with `--expose-gc`: its tree for each word and sign, its plans for each field. */
const WEIGHTS = { document: 2_000, token: 400, plan: 4_000, field: 300 };

/**
 * Validation takes 150 µs for one line, which is more than running it: a document is looked at once. One that is refused is
 * not kept: whoever sends nonsense must not push out what others use.
 */
export function createDocumentCache(options: DocumentOptions): DocumentCache {
  const { entries = 1000, bytes = 64_000_000 } = options;
  const kept = createBoundedCache<Prepared>({ entries, bytes });
  return {
    get size() {
      return kept.size;
    },
    get held() {
      return kept.held;
    },
    get: (text) => {
      const known = kept.get(text);
      if (known) return { prepared: known };
      const lookup: Lookup = prepare(text, options, (more) => lookup.prepared && kept.grow(text, lookup.prepared, more));
      if (lookup.prepared) kept.set(text, lookup.prepared, weightOf(text, lookup.prepared));
      return lookup;
    },
  };
}

const weightOf = (text: string, { document }: Prepared) => WEIGHTS.document + 2 * text.length + WEIGHTS.token * (document.tokenCount ?? text.length);

function prepare(text: string, options: DocumentOptions, grow: (bytes: number) => void): Lookup {
  const { schema, limits, introspection, suggestions } = options;
  try {
    const document = parseWithin(text, limits.tokens);
    const rules = [...new Set([...specifiedRules, ...recommendedRules]), ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
    const errors = validate(schema, document, rules, { hideSuggestions: !suggestions, maxErrors: 50 });
    if (errors.length > 0) return { errors: errors.map(asValidationError) };
    const over = operationsOf(document).map((operation) => checkMeasures(operation, document, limits)).find((error) => error !== undefined);
    return over ? { errors: [over] } : { prepared: prepareOperations(document, grow) };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

function parseWithin(text: string, tokens: number): DocumentNode {
  try {
    return parse(text, { maxTokens: tokens });
  } catch (error) {
    if (error instanceof GraphQLError && /more than \d+ tokens/.test(error.message)) {
      throw limitError('TOO_MANY_TOKENS', `the document has more than ${tokens} tokens`, { value: tokens + 1, limit: tokens });
    }
    throw error;
  }
}

const asValidationError = (error: GraphQLError) =>
  new GraphQLError(error.message, { ...(error.nodes && { nodes: error.nodes }), source: error.source, positions: error.positions, extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...error.extensions } });

const operationsOf = (document: DocumentNode) => document.definitions.filter((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION);

function prepareOperations(document: DocumentNode, grow: (bytes: number) => void): Prepared {
  const fragments = new Map(document.definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION).map((node) => [node.name.value, node]));
  const { conditions, sized } = variablesThatDecide(document);
  const plansOf = (node: OperationDefinitionNode) => createPlanCache({ weight: WEIGHTS.plan + WEIGHTS.field * measureOperation(node, document).fields, grow });
  return { document, operations: operationsOf(document).map((node) => ({ document, node, fragments, conditions, sized, plans: plansOf(node) })) };
}

function variablesThatDecide(document: DocumentNode): { conditions: string[]; sized: boolean } {
  const conditions = new Set<string>();
  let sized = false;
  visit(document, {
    Directive: ({ name, arguments: given }) => {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given ?? []) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
    Field: ({ arguments: given }) => {
      sized ||= (given ?? []).some(({ name, value }) => value.kind === Kind.VARIABLE && ['first', 'last', 'limit'].includes(name.value));
    },
  });
  return { conditions: [...conditions].sort(), sized };
}
