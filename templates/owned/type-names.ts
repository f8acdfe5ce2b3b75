import { type DocumentNode, Kind, visit } from 'graphql';

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

/** Names that every object has from its prototype: graphql-codegen's tables by type name trip over them. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** How emitted TypeScript calls a GraphQL type: by its own name, or with `_` at its end if that is taken. */
export type TypeNames = (type: string) => string;

/** The names of every type that an SDL may declare. Words of descriptions may be among them, and do no harm. */
export function typeNamesOf(sdl: string): TypeNames {
  const types = [...sdl.matchAll(/\b(?:type|interface|union|enum|input|scalar)\s+(\w+)/g)].map((match) => match[1]!);
  const made = new Set(types.flatMap((name) => ENDINGS.map((ending) => `${name}${ending}`)));
  const clashing = new Set(types.filter((name) => TAKEN.has(name) || INHERITED.has(name) || made.has(name)));
  return (type) => (clashing.has(type) ? `${type}_` : type);
}

/** The same schema with the names that TypeScript gets, for graphql-codegen alone. */
export function withTypeNames(document: DocumentNode, names: TypeNames): DocumentNode {
  const clashing = document.definitions.some((node) => 'name' in node && names(node.name?.value ?? '') !== node.name?.value);
  if (!clashing) return document;
  return visit(document, {
    Name: (node, _key, parent) => {
      const holder = parent as { readonly kind: Kind };
      const named = holder.kind === Kind.NAMED_TYPE || /Type(Definition|Extension)$/.test(holder.kind);
      return named && names(node.value) !== node.value ? { ...node, value: names(node.value) } : undefined;
    },
  });
}
