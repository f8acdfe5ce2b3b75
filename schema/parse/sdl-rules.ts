import * as graphql from 'graphql';
import type {
  ASTNode,
  ASTVisitor,
  ASTVisitorKeyMap,
  DefinitionNode,
  DocumentNode,
  GraphQLError,
  GraphQLSchema,
  NamedTypeNode,
} from 'graphql';
import { nearest } from '../did-you-mean.ts';
import { camelCase, pluralize } from '../names.ts';
import { knownScalar } from '../scalars.ts';
import { namedTypes, typesNamed } from './named-types.ts';
import type { Change, ProposedFix } from './changes.ts';
import type { Finding } from './places.ts';

/** The context that graphql-js passes to its SDL rules; its class is not exported. */
interface SdlContext {
  getDocument(): DocumentNode;
  getSchema(): null;
  reportError(error: GraphQLError): void;
  readonly hideSuggestions: boolean;
}

/**
 * The rules of graphql-js about duplicate names and extensions of unknown types, each with our
 * code.
 */
const RULES: readonly (readonly [code: string, rule: (context: never) => ASTVisitor])[] = [
  ['NAME_DUPLICATE', graphql.LoneSchemaDefinitionRule],
  ['NAME_DUPLICATE', graphql.UniqueOperationTypesRule],
  ['NAME_DUPLICATE', graphql.UniqueTypeNamesRule],
  ['NAME_DUPLICATE', graphql.UniqueEnumValueNamesRule],
  ['NAME_DUPLICATE', graphql.UniqueFieldDefinitionNamesRule],
  ['NAME_DUPLICATE', graphql.UniqueArgumentDefinitionNamesRule],
  ['NAME_DUPLICATE', graphql.UniqueArgumentNamesRule],
  ['NAME_DUPLICATE', graphql.UniqueInputFieldNamesRule],
  ['NAME_DUPLICATE', graphql.UniqueDirectiveNamesRule],
  ['EXTENSION_UNKNOWN', graphql.PossibleTypeExtensionsRule],
];

/**
 * Hundreds of unknown names have another cause, and searching similar names for each would take
 * long.
 */
const MOST_SUGGESTIONS = 20;

/** All reasons why the SDL is not a valid GraphQL schema, as findings. */
export function schemaFindings(
  document: DocumentNode,
  schema: GraphQLSchema,
  unknown: ReadonlyMap<string, NamedTypeNode[]>,
): Finding[] {
  const findings = [
    ...unknownFindings(document, unknown),
    ...executableFindings(document),
    ...ruleFindings(document),
  ];
  return findings.length > 0 ? findings : typeFindings(schema);
}

/** Names that are used but not defined, with their uses. */
export function unknownTypes(document: DocumentNode): Map<string, NamedTypeNode[]> {
  const defined = new Set(definedTypes(document));
  const uses = document.definitions.flatMap((definition) =>
    typesNamed(definition).every((name) => defined.has(name)) ? [] : namedTypes(definition),
  );
  return Map.groupBy(
    uses.filter(({ name }) => !defined.has(name.value)),
    ({ name }) => name.value,
  );
}

function definedTypes(document: DocumentNode): string[] {
  const own = document.definitions
    .filter(graphql.isTypeDefinitionNode)
    .map((definition) => definition.name.value);
  return [
    ...own,
    ...graphql.specifiedScalarTypes.map((type) => type.name),
    ...graphql.introspectionTypes.map((type) => type.name),
  ];
}

function unknownFindings(
  document: DocumentNode,
  unknown: ReadonlyMap<string, NamedTypeNode[]>,
): Finding[] {
  const defined = definedTypes(document).filter((name) => !name.startsWith('__'));
  const asked = unknown.size > 0 ? askedTypes(document) : new Set<NamedTypeNode>();
  return [...unknown].flatMap(([name, uses], index) => {
    if (knownScalar(name)) return [scalarUndeclared(name, uses[0])];
    const near = index < MOST_SUGGESTIONS ? nearest(name, defined) : undefined;
    return uses.map((use) =>
      finding(
        'TYPE_UNKNOWN',
        `There is no type ${name}`,
        use,
        near === undefined
          ? {
              mends: mend({
                kind: 'definition',
                beside: use,
                text: definitionFor(name, use, asked),
              }),
            }
          : {
              fix: `Did you mean "${near}"?`,
              mends: mend({ kind: 'replace', node: use, text: near }),
            },
      ),
    );
  });
}

const mend = (change: Change): ProposedFix[] => [{ changes: [change] }];

/** A definition for an unknown name. Arguments and input fields cannot have an object type. */
function definitionFor(
  name: string,
  use: NamedTypeNode,
  asked: ReadonlySet<NamedTypeNode>,
): string {
  return asked.has(use) ? `input ${name} { id: ID }` : `type ${name} { id: ID! }`;
}

/** The type names used in arguments and in input fields. */
function askedTypes(document: DocumentNode): ReadonlySet<NamedTypeNode> {
  const asked = new Set<NamedTypeNode>();
  graphql.visit(document, {
    InputValueDefinition: {
      enter(node) {
        let { type } = node;
        while (type.kind !== graphql.Kind.NAMED_TYPE) type = type.type;
        asked.add(type);
      },
    },
  });
  return asked;
}

function scalarUndeclared(name: string, use: ASTNode | undefined): Finding {
  return finding('SCALAR_UNDECLARED', `The scalar ${name} is known but not declared`, use, {
    why: 'the schema is served as it is written, and GraphQL wants every scalar declared in it',
    mends: use && mend({ kind: 'definition', beside: use, text: `scalar ${name}` }),
  });
}

function executableFindings(document: DocumentNode): Finding[] {
  return document.definitions.filter(graphql.isExecutableDefinitionNode).map((node) =>
    finding('SDL_EXECUTABLE', 'A query does not belong in a schema', node, {
      fix: 'keep operations and fragments in files of their own',
    }),
  );
}

/** Definitions for which no rule had a finding. */
const withoutFindings = new WeakSet<DefinitionNode>();

/**
 * If every name is unique and nothing is extended, a definition cannot make another one wrong:
 * definitions without findings are not checked again.
 */
function ruleFindings(document: DocumentNode): Finding[] {
  const { definitions } = document;
  const asked = areIndependent(definitions)
    ? definitions.filter((definition) => !withoutFindings.has(definition))
    : definitions;
  const findings = askRules(document, asked);
  if (findings.length === 0) for (const definition of asked) withoutFindings.add(definition);
  return findings;
}

function areIndependent(definitions: readonly DefinitionNode[]): boolean {
  const names = new Set<string>();
  for (const definition of definitions) {
    if (graphql.isTypeSystemExtensionNode(definition)) return false;
    const name =
      definition.kind === graphql.Kind.DIRECTIVE_DEFINITION
        ? `@${definition.name.value}`
        : 'name' in definition
          ? (definition.name?.value ?? '')
          : '';
    if (names.size === names.add(name).size) return false;
  }
  return true;
}

function askRules(document: DocumentNode, definitions: readonly DefinitionNode[]): Finding[] {
  const findings: Finding[] = [];
  const visitors = RULES.map(([code, rule]) => {
    const context: SdlContext = {
      getDocument: () => document,
      getSchema: () => null,
      reportError: (error) =>
        findings.push(withoutTwin(graphqlFinding(code, error), error, document)),
      hideSuggestions: false,
    };
    return rule(context as never);
  });
  graphql.visit({ ...document, definitions }, graphql.visitInParallel(visitors), DUPLICABLE);
  return findings;
}

/**
 * Of two identical fields the second is removed; if they differ, only the user can decide which one
 * is right.
 */
function withoutTwin(
  found: Finding,
  { nodes = [] }: GraphQLError,
  document: DocumentNode,
): Finding {
  const [one, other] = nodes.map((name) => fieldNamed(name, document));
  const same = one && other && one !== other && graphql.print(one) === graphql.print(other);
  return same
    ? { ...found, fix: 'remove the second one', mends: mend({ kind: 'remove', node: other }) }
    : found;
}

function fieldNamed(name: ASTNode, { definitions }: DocumentNode): ASTNode | undefined {
  for (const definition of definitions) {
    const fields: readonly { readonly name: ASTNode }[] =
      ('fields' in definition ? definition.fields : undefined) ?? [];
    const field = fields.find((each) => each.name === name);
    if (field) return field as unknown as ASTNode;
  }
  return undefined;
}

/**
 * The nodes that can contain duplicate names. The others (names, types and descriptions) are half
 * of all nodes, and no rule above needs them.
 */
const DUPLICABLE = {
  Document: ['definitions'],
  SchemaDefinition: ['directives', 'operationTypes'],
  SchemaExtension: ['directives', 'operationTypes'],
  ...ofTypes('Scalar', ['directives']),
  ...ofTypes('Object', ['directives', 'fields']),
  ...ofTypes('Interface', ['directives', 'fields']),
  ...ofTypes('Union', ['directives']),
  ...ofTypes('Enum', ['directives', 'values']),
  ...ofTypes('InputObject', ['directives', 'fields']),
  DirectiveDefinition: ['arguments'],
  FieldDefinition: ['arguments', 'directives'],
  InputValueDefinition: ['defaultValue', 'directives'],
  EnumValueDefinition: ['directives'],
  Directive: ['arguments'],
  Argument: ['value'],
  ListValue: ['values'],
  ObjectValue: ['fields'],
  ObjectField: ['value'],
} as unknown as ASTVisitorKeyMap;

function ofTypes(
  kind: string,
  keys: readonly string[],
): { readonly [node: string]: readonly string[] } {
  return { [`${kind}TypeDefinition`]: keys, [`${kind}TypeExtension`]: keys };
}

/**
 * Errors that graphql-js finds in the finished schema: missing interface fields, unions of scalars,
 * no Query.
 */
function typeFindings(schema: GraphQLSchema): Finding[] {
  return graphql.validateSchema(schema).map((error) => {
    if (!error.message.startsWith('Query root type must be provided'))
      return graphqlFinding('SDL_INVALID', error);
    const first =
      Object.values(schema.getTypeMap()).find((type) => type.astNode)?.astNode ?? undefined;
    return finding('QUERY_MISSING', 'The schema has no type Query', first, {
      why: 'GraphQL wants at least one query',
      mends: first && mend({ kind: 'definition', beside: first, text: exampleQuery(schema) }),
    });
  });
}

/** A query field for an existing type. */
function exampleQuery(schema: GraphQLSchema): string {
  const type = Object.values(schema.getTypeMap()).find(
    (each) => graphql.isObjectType(each) && each.getFields()['id'],
  );
  return type
    ? `type Query { ${pluralize(camelCase(type.name))}: [${type.name}!]! }`
    : 'type Query { hello: String }';
}

/** Fixes for messages of graphql-js that do not contain one. */
const FIXES: readonly (readonly [RegExp, (...words: string[]) => string])[] = [
  [
    /^Interface field (\w+)\.(\w+) expected but (\w+) does not provide it/,
    (_, face, field, type) => `add ${field} to ${type}, as ${face} has it`,
  ],
  [
    /^Interface field (\w+)\.(\w+) expects type (\S+) but (\w+)\.\w+ is type/,
    (_, _face, field, type) => `${field}: ${type}`,
  ],
  [/^There can be only one|can only be defined once/, () => 'keep one of the two'],
  [/must not begin with "__"/, () => 'names that begin with __ belong to GraphQL'],
  [/must define one or more/, () => 'give it a field'],
];

/**
 * A message of graphql-js contains the problem and then a suggestion; the finding is placed at the
 * last node that it names.
 */
function graphqlFinding(code: string, error: GraphQLError): Finding {
  const [summary = '', meant] = error.message.split(/(?<=\.) (?=Did you mean)/);
  const known = FIXES.flatMap(([pattern, fix]) =>
    pattern.test(summary) ? [fix(...(pattern.exec(summary) ?? []))] : [],
  );
  const fix =
    meant ??
    known[0] ??
    'the GraphQL specification asks for it: https://spec.graphql.org/draft/#sec-Type-System';
  const node = error.nodes?.at(-1);
  const deprecated = error.nodes?.find(({ kind }) => kind === graphql.Kind.DIRECTIVE);
  return finding(
    code,
    summary.replace(/\.$/, ''),
    node && 'name' in node && node.name ? (node.name as ASTNode) : node,
    deprecated && /deprecated/.test(summary)
      ? { fix: 'remove it', mends: mend({ kind: 'remove', node: deprecated }) }
      : { fix },
  );
}

function finding(
  code: string,
  summary: string,
  node: ASTNode | undefined,
  more: { why?: string; fix?: string; mends?: ProposedFix[] | undefined },
): Finding {
  const { mends, ...rest } = more;
  return { code, severity: 'error', summary, ...rest, ...(mends && { mends }), at: node };
}
