import type { GraphQLSchema } from 'graphql';

/** What `types.ts` itself uses or declares: a GraphQL type with one of these names gets `_` at its end there. */
const TAKEN: ReadonlySet<string> = new Set([
  // TypeScript's own types and words that cannot name one
  ...'any bigint boolean never null number object string symbol undefined unknown void'.split(' '),
  ...'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new package private protected public return static super switch this throw true try typeof var while with yield'.split(' '),
  // Globals in graphql-codegen's text and in ours
  ...'Array AsyncIterable NonNullable Omit Partial Promise PropertyKey Readonly Record Uint8Array'.split(' '),
  // What graphql-codegen declares
  ...'DirectiveResolverFn Exact GraphQLResolveInfo GraphQLScalarType GraphQLScalarTypeConfig Incremental InputMaybe IsTypeOfResolverFn MakeEmpty MakeMaybe MakeOptional Maybe NextResolverFn RequireFields Resolver ResolverFn ResolverTypeWrapper ResolverWithResolve Resolvers ResolversInterfaceTypes ResolversParentTypes ResolversTypes ResolversUnionTypes SubscriptionObject SubscriptionResolveFn SubscriptionResolver SubscriptionResolverObject SubscriptionSubscribeFn SubscriptionSubscriberObject TypeResolveFn'.split(' '),
  // What we declare or import
  ...'ColumnType Context Database Generated LoadersOf RequestContext ScalarMapping ScalarTypes Scalars loaders'.split(' '),
]);

/** Endings of names that are made from a type's: `User` makes `UserResolvers`. */
const ENDINGS = ['Overrides', 'Resolvers', 'Row', 'ScalarConfig', 'DirectiveArgs', 'DirectiveResolver'] as const;

/** How `types.ts` calls a GraphQL type: by its own name, unless that is taken. */
export function typeNamesOf(schema: GraphQLSchema): (type: string) => string {
  const types = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
  const made = new Set(types.flatMap((name) => ENDINGS.map((ending) => `${name}${ending}`)));
  const clashing = new Set(types.filter((name) => TAKEN.has(name) || made.has(name)));
  return (type) => (clashing.has(type) ? `${type}_` : type);
}
