import { first, locationOf } from '@twofold/schema';
import type { Diagnostic, Position } from '@twofold/schema';
import {
  Kind,
  LoneAnonymousOperationRule,
  NoUnusedFragmentsRule,
  recommendedRules,
  specifiedRules,
  UniqueFragmentNamesRule,
  UniqueOperationNamesRule,
  validate,
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { placeIn, type DocumentText } from './document-text.ts';
import { spreadsWithin, type FoundDefinition } from './found-definition.ts';

/**
 * Rules about one request. Here the definitions of all files are checked together: names have
 * findings of their own, and a fragment may wait for its first use.
 */
const NOT_HERE: ReadonlySet<unknown> = new Set([
  LoneAnonymousOperationRule,
  NoUnusedFragmentsRule,
  UniqueFragmentNamesRule,
  UniqueOperationNamesRule,
]);

const RULES = [...new Set([...specifiedRules, ...recommendedRules])].filter(
  (rule) => !NOT_HERE.has(rule),
);

type Definition = FoundDefinition['node'];

/**
 * The findings for parts of documents that the served schema does not have or allow. What the rules
 * say about a definition depends on the schema, on the definition and on the fragments that it uses:
 * one that was valid with these is not checked again.
 */
export function invalidIn(
  schema: GraphQLSchema,
  nodes: readonly Definition[],
  placeOf: (error: GraphQLError) => Position | null,
): Diagnostic[] {
  const usedBy = usedFragments(nodes);
  const open = nodes.filter((node) => !isSame(VALID.get(node), [schema, ...usedBy(node)]));
  if (open.length === 0) return [];
  const definitions = [...new Set([...open, ...open.flatMap(usedBy)])];
  const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions };
  const errors = validate(schema, whole, RULES, { maxErrors: Infinity });
  if (errors.length === 0) for (const node of open) VALID.set(node, [schema, ...usedBy(node)]);
  return errors.map((error) => invalid(error.message, placeOf(error)));
}

/** The schema and the fragments with which a definition was valid. */
const VALID = new WeakMap<Definition, readonly unknown[]>();

const isSame = (known: readonly unknown[] | undefined, given: readonly unknown[]) =>
  known?.length === given.length && known.every((part, at) => part === given[at]);

function usedFragments(nodes: readonly Definition[]) {
  const named = new Map<string, FragmentDefinitionNode>();
  for (const node of nodes)
    if (node.kind === Kind.FRAGMENT_DEFINITION) named.set(node.name.value, node);
  return (node: Definition): readonly FragmentDefinitionNode[] =>
    spreadsWithin(node, (name) => named.get(name)).flatMap((name) => named.get(name) ?? []);
}

/** The finding for a text that does not parse. */
export function syntaxProblem(
  { message, locations }: GraphQLError,
  source: DocumentText,
): Diagnostic {
  return invalid(message, placeIn(source, locations?.[0] ?? { line: 1, column: 1 }));
}

/** A definition of a type, where only operations and fragments are expected. */
export function unexpected(node: DefinitionNode, source: DocumentText): Diagnostic {
  return {
    ...invalid(
      'A document has operations and fragments, no definitions of types',
      placeIn(source, locationOf(node).startToken, lengthOf(node)),
    ),
    fix: 'exclude the file from the documents of the manifest with "!"',
  };
}

const lengthOf = ({ loc }: DefinitionNode) => loc!.startToken.end - loc!.startToken.start;

function invalid(message: string, at: Position | null): Diagnostic {
  const [, problem = message, advice] = /^([^]*?)\s*(Did you mean [^]*)$/.exec(message) ?? [];
  return {
    code: 'DOCUMENT_INVALID',
    severity: 'error',
    summary: problem,
    ...(advice !== undefined && { fix: advice }),
    at: at ?? { file: 'manifest.yaml', line: 1, column: 1, length: 1 },
  };
}

/** The finding DOCUMENT_UNNAMED. */
export function unnamed({ node, source }: FoundDefinition): Diagnostic {
  return {
    code: 'DOCUMENT_UNNAMED',
    severity: 'error',
    summary: 'The operation has no name',
    why: 'its types and its constant are called after it',
    fix: 'query Posts { … }',
    at: placeIn(source, locationOf(node).startToken, lengthOf(node)),
  };
}

/** The findings DOCUMENT_NAME_TAKEN, one at each place where the name is used. */
export function nameTaken(group: readonly FoundDefinition[]): Diagnostic[] {
  const what = first(group).node.kind === 'FragmentDefinition' ? 'fragment' : 'operation';
  const places = group.map(({ node, source }) =>
    placeIn(source, locationOf(node.name!).startToken, node.name!.value.length),
  );
  return places.map((at, index) => {
    const other = places.find((_, each) => each !== index)!;
    return {
      code: 'DOCUMENT_NAME_TAKEN',
      severity: 'error',
      summary: `The ${what} ${first(group).node.name!.value} is also in ${other.file}:${other.line}:${other.column}`,
      why: `each ${what} of a front end has types of its name`,
      fix: 'rename one of them',
      at,
    };
  });
}

/** The finding DOCUMENT_NOT_STATIC. */
export function notStatic({ file, line, column }: DocumentText): Diagnostic {
  return {
    code: 'DOCUMENT_NOT_STATIC',
    severity: 'error',
    summary: 'The document has ${}',
    why: 'what it sends is known only when it runs, and the list of documents needs its text now',
    fix: 'pass values as variables; fragments are found by their name, and need not be put in',
    at: { file, line, column, length: 1 },
  };
}
