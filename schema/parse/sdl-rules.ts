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
import { didYouMean } from '../did-you-mean.ts';
import { knownScalar } from '../scalars.ts';
import { namedTypes, typesNamed } from './named-types.ts';
import type { Finding } from './places.ts';

/** What a rule of graphql-js asks of its context; the class of theirs is not exported. */
interface SdlContext {
  getDocument(): DocumentNode;
  getSchema(): null;
  reportError(error: GraphQLError): void;
  readonly hideSuggestions: boolean;
}

/** The rules of graphql-js about names that stand twice and extensions of nothing, each with our code. */
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

/** With hundreds of unknown names something else is wrong, and looking for neighbours of each would take long. */
const MOST_SUGGESTIONS = 20;

/** Everything that makes the SDL no GraphQL schema, as findings. */
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

/** The names that are used and nowhere defined, with the places that use them. */
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
  return [...unknown].flatMap(([name, uses], index) => {
    if (knownScalar(name)) return [scalarUndeclared(name, uses[0])];
    const fix =
      (index < MOST_SUGGESTIONS && didYouMean(name, defined)) || `type ${name} { id: ID! }`;
    return uses.map((use) => finding('TYPE_UNKNOWN', `There is no type ${name}`, use, { fix }));
  });
}

function scalarUndeclared(name: string, use: ASTNode | undefined): Finding {
  return finding('SCALAR_UNDECLARED', `The scalar ${name} is known but not declared`, use, {
    why: 'the schema is served as it is written, and GraphQL wants every scalar declared in it',
    fix: `scalar ${name}`,
  });
}

function executableFindings(document: DocumentNode): Finding[] {
  return document.definitions.filter(graphql.isExecutableDefinitionNode).map((node) =>
    finding('SDL_EXECUTABLE', 'A query does not belong in a schema', node, {
      fix: 'keep operations and fragments in files of their own',
    }),
  );
}

/** Definitions that no rule had anything to say of. */
const passed = new WeakSet<DefinitionNode>();

/** Where every name stands once and nothing is extended, no definition makes another one wrong: those that passed are not asked again. */
function ruleFindings(document: DocumentNode): Finding[] {
  const { definitions } = document;
  const asked = standAlone(definitions)
    ? definitions.filter((definition) => !passed.has(definition))
    : definitions;
  const findings = askRules(document, asked);
  if (findings.length === 0) for (const definition of asked) passed.add(definition);
  return findings;
}

function standAlone(definitions: readonly DefinitionNode[]): boolean {
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
      reportError: (error) => findings.push(graphqlFinding(code, error)),
      hideSuggestions: false,
    };
    return rule(context as never);
  });
  graphql.visit({ ...document, definitions }, graphql.visitInParallel(visitors), DUPLICABLE);
  return findings;
}

/** Where names that stand twice may be. Names, types and descriptions are half of all nodes, and no rule above asks for one. */
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

/** What graphql-js says of the finished schema: interfaces not fulfilled, unions of scalars, no Query. */
function typeFindings(schema: GraphQLSchema): Finding[] {
  return graphql.validateSchema(schema).map((error) => {
    if (!error.message.startsWith('Query root type must be provided'))
      return graphqlFinding('SDL_INVALID', error);
    const first =
      Object.values(schema.getTypeMap()).find((type) => type.astNode)?.astNode ?? undefined;
    return finding('QUERY_MISSING', 'The schema has no type Query', first, {
      why: 'GraphQL wants at least one query',
      fix: 'type Query { users: [User!]! }',
    });
  });
}

/** What to do about the messages of graphql-js that do not say it themselves. */
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

/** A message of graphql-js says what is wrong and then what was meant; the place is the last one that it names. */
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
  return finding(
    code,
    summary.replace(/\.$/, ''),
    node && 'name' in node && node.name ? (node.name as ASTNode) : node,
    { fix },
  );
}

function finding(
  code: string,
  summary: string,
  node: ASTNode | undefined,
  more: { why?: string; fix?: string },
): Finding {
  return { code, severity: 'error', summary, ...more, at: node };
}
