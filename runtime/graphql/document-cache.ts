import { type DocumentNode, type FragmentDefinitionNode, GraphQLError, type GraphQLSchema, Kind, NoSchemaIntrospectionCustomRule, type OperationDefinitionNode, parse, recommendedRules, specifiedRules, validate, visit } from 'graphql';
import type { ApiLimits } from '@twofold/schema';
import { checkMeasures, limitError } from './limits.ts';

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
  /** Plans by conditions and class of callers; what they are is the engine's matter. */
  readonly plans: Map<string, unknown>;
}

export type Lookup = { readonly prepared: Prepared; readonly errors?: never } | { readonly errors: readonly GraphQLError[]; readonly prepared?: never };

export interface DocumentCache {
  get(text: string): Lookup;
  /** For tests and figures. */
  readonly size: number;
}

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly limits: ApiLimits;
  readonly introspection: boolean;
  readonly suggestions: boolean;
  /** How many documents are kept, and how many characters of them. */
  readonly entries?: number;
  readonly characters?: number;
}

/** Validation takes 150 µs for one line, which is more than running it: a document is looked at once. */
export function createDocumentCache(options: DocumentOptions): DocumentCache {
  const { entries = 1000, characters = 4_000_000 } = options;
  const kept = new Map<string, Lookup>();
  let held = 0;
  const isFull = () => kept.size > entries || (held > characters && kept.size > 1);
  const drop = (text: string) => {
    kept.delete(text);
    held -= text.length;
  };
  return {
    get size() {
      return kept.size;
    },
    get: (text) => {
      const known = kept.get(text);
      if (known) return touch(kept, text, known);
      const lookup = prepare(text, options);
      kept.set(text, lookup);
      held += text.length;
      while (isFull()) drop(kept.keys().next().value as string);
      return lookup;
    },
  };
}

/** The least used goes first; moving an entry on every hit would cost more than it gains while there is room. */
function touch(kept: Map<string, Lookup>, text: string, lookup: Lookup): Lookup {
  if (kept.size < 500) return lookup;
  kept.delete(text);
  kept.set(text, lookup);
  return lookup;
}

function prepare(text: string, options: DocumentOptions): Lookup {
  const { schema, limits, introspection, suggestions } = options;
  try {
    const document = parseWithin(text, limits.tokens);
    const rules = [...new Set([...specifiedRules, ...recommendedRules]), ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
    const errors = validate(schema, document, rules, { hideSuggestions: !suggestions, maxErrors: 50 });
    if (errors.length > 0) return { errors: errors.map(asValidationError) };
    const over = operationsOf(document).map((operation) => checkMeasures(operation, document, limits)).find((error) => error !== undefined);
    return over ? { errors: [over] } : { prepared: prepareOperations(document) };
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

function prepareOperations(document: DocumentNode): Prepared {
  const fragments = new Map(document.definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION).map((node) => [node.name.value, node]));
  const { conditions, sized } = variablesThatDecide(document);
  return { document, operations: operationsOf(document).map((node) => ({ document, node, fragments, conditions, sized, plans: new Map() })) };
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
