import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  recommendedRules,
  specifiedRules,
  validate,
  type ValidationRule,
  visit,
} from 'graphql';
import { type ApiLimits, checkMeasures, type Fragments, limitError } from '@twofold/schema';

/** The result of reading a text: a document that may be run, or its errors. */
export type ReadDocument =
  | { readonly document: DocumentNode; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly document?: never };

export interface DocumentRules {
  readonly schema: GraphQLSchema;
  readonly limits: ApiLimits;
  readonly introspection: boolean;
  readonly suggestions: boolean;
  /** The rules of plugins, beside those of the specification. */
  readonly own?: readonly ValidationRule[];
  /** Texts that `own` has accepted at the start. */
  readonly accepted?: ReadonlySet<string>;
}

/** More errors than this would not help a caller. */
const MAX_ERRORS = 20;

/**
 * Parses, measures and validates a document. One that is too large is refused before validation,
 * whose time grows with the square of the selection.
 *
 * @example readDocument('{ users { id } }', rules).document?.definitions.length // 1
 */
export function readDocument(text: string, rules: DocumentRules): ReadDocument {
  const parsed = parseDocument(text, rules);
  return parsed.document ? validateDocument(text, parsed.document, rules) : parsed;
}

/** The first half: a document that was parsed and measured. */
export function parseDocument(text: string, { limits }: DocumentRules): ReadDocument {
  try {
    const document = parseWithin(text, limits.tokens);
    const over = checkMeasures(document.definitions, fragmentsOf(document), limits);
    return over ? { errors: [over] } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

/** The second half. */
export function validateDocument(
  text: string,
  document: DocumentNode,
  rules: DocumentRules,
): ReadDocument {
  const { own = [], accepted } = rules;
  const applied = [...specificationRules(rules), ...(accepted?.has(text) ? [] : own)];
  const errors = validate(rules.schema, document, applied, {
    hideSuggestions: !rules.suggestions,
    maxErrors: MAX_ERRORS,
  });
  return errors.length > 0 ? { errors: errors.map(asValidationError) } : { document };
}

const RULES = [...new Set([...specifiedRules, ...recommendedRules])];

const specificationRules = ({ introspection }: DocumentRules) =>
  introspection ? RULES : [...RULES, NoSchemaIntrospectionCustomRule];

function parseWithin(text: string, tokens: number): DocumentNode {
  // graphql-js counts lines to locate an error, which takes 40 ms for each error in a megabyte of
  // lines.
  if (hasMoreLines(text, tokens)) throw tooManyTokens('lines', tokens);
  try {
    return parse(text, { maxTokens: tokens });
  } catch (error) {
    if (error instanceof GraphQLError && /more than \d+ tokens/.test(error.message))
      throw tooManyTokens('tokens', tokens);
    throw error;
  }
}

const tooManyTokens = (what: string, limit: number) =>
  limitError('TOO_MANY_TOKENS', `the document has more than ${limit} ${what}`, {
    value: limit + 1,
    limit,
  });

/** Counts lines as GraphQL does: a line ends with `\n`, `\r` or both. */
function hasMoreLines(text: string, most: number): boolean {
  if (text.length < most) return false;
  const ends = /\r\n|[\n\r]/g;
  let lines = 1;
  while (lines <= most && ends.test(text)) lines += 1;
  return lines > most;
}

/**
 * Removes the nodes of an error. They refer to the whole document, and errors are cached longer
 * than it.
 */
const asValidationError = ({ message, source, positions, extensions }: GraphQLError) =>
  new GraphQLError(message, {
    source,
    positions,
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...extensions },
  });

/** The fragments of a document by their names. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );

export const operationsOf = ({ definitions }: DocumentNode) =>
  definitions.filter(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );

/** The variables that `@skip` and `@include` use, which decide what is planned. */
export function variablesThatDecide(document: DocumentNode): readonly string[] {
  const conditions = new Set<string>();
  visit(document, {
    Directive: ({ name, arguments: given }) => {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given ?? [])
        if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    },
  });
  return [...conditions].sort();
}
