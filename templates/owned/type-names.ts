import { Kind, parse } from 'graphql';
import { remembered, type Project } from '@twofold/schema';

/**
 * Names that `types.ts` itself uses or declares: a GraphQL type with one of these names gets the
 * suffix `_` there.
 */
const TAKEN: ReadonlySet<string> = new Set([
  // TypeScript's own types, and reserved words
  ...'any bigint boolean never null number object string symbol undefined unknown void'.split(' '),
  ...'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new package private protected public return static super switch this throw true try typeof var while with yield'.split(
    ' ',
  ),
  // Globals that the file uses
  ...'Array AsyncIterable NonNullable Omit Partial Promise PropertyKey Readonly Record Uint8Array'.split(
    ' ',
  ),
  // Helpers for the types of the schema and of resolvers
  ...'EventSource GraphQLResolveInfo GraphQLScalarType GraphQLScalarTypeConfig InputMaybe IsTypeOfResolverFn Maybe RequireFields Resolver ResolverTypeWrapper Resolvers ResolversInterfaceTypes ResolversParentTypes ResolversTypes ResolversUnionTypes SubscriptionResolver TypeResolveFn'.split(
    ' ',
  ),
  // Names that the file declares or imports
  ...'AuthHooks Credential RuntimeAuth RuntimeExtend RuntimeListeners ColumnType Context Credentials Data Database EntityData Extend Generated Listeners Pick Published LoadersOf Middleware MiddlewareOf MutationsOf RequestContext Routes RoutesOf RuntimeAuthHooks ScalarMapping ScalarTypes Scalars TableOf loaders'.split(
    ' ',
  ),
]);

/** Names that it declares and imports for a project with jobs. */
export const JOB_NAMES: readonly string[] = ['Job', 'JobData', 'JobOf', 'JobsApi', 'JobsOf'];

/** Suffixes of derived names: `User` gives `UserResolvers`. */
const ENDING = /^(\w+)(?:Overrides|Resolvers|Row|ScalarConfig|Shape)$/;

/**
 * Names that every object inherits from its prototype: a lookup table keyed by type name would find
 * them.
 */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * The name of a GraphQL type in emitted TypeScript: the same, or with the suffix `_` if it is
 * taken.
 */
export type TypeNames = (type: string) => string;

/**
 * The names of all types that an SDL may declare. `more` names are taken too. Words of descriptions may be among them, which
 * does no harm.
 */
export function typeNamesOf(sdl: string, more: readonly string[] = []): TypeNames {
  const types = new Set(
    Array.from(
      sdl.matchAll(/\b(?:type|interface|union|enum|input|scalar)(?=\s+(\w+))/g),
      ([, name]) => name!,
    ),
  );
  const clashing = new Set(
    [...types].filter(
      (name) =>
        TAKEN.has(name) ||
        more.includes(name) ||
        INHERITED.has(name) ||
        types.has(ENDING.exec(name)?.[1] ?? ''),
    ),
  );
  return clashing.size === 0 ? unchanged : (type) => (clashing.has(type) ? `${type}_` : type);
}

/**
 * One shared function for all schemas without a clash, so that cached definitions stay valid from
 * one schema to the next.
 */
const unchanged: TypeNames = (type) => type;

type Root = 'query' | 'mutation' | 'subscription';

const USUAL: Readonly<Record<Root, string>> = {
  query: 'Query',
  mutation: 'Mutation',
  subscription: 'Subscription',
};

/**
 * The names of the root types: `Query` and so on, unless the schema definition says otherwise. They
 * are searched once in the SDL, because several files of a run need them.
 */
export const rootNames = remembered(({ sdl }: Project): Readonly<Record<Root, string>> =>
  /\bschema\s*[@{]/.test(sdl) ? { ...USUAL, ...definedNames(sdl) } : USUAL,
);

function definedNames(sdl: string): Partial<Record<Root, string>> {
  const nodes = parse(sdl, { noLocation: true }).definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  );
  return Object.fromEntries(
    nodes
      .flatMap((node) => node.operationTypes ?? [])
      .map((type) => [type.operation, type.type.name.value]),
  );
}
