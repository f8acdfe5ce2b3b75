/**
 * What `types.ts` itself uses or declares: a GraphQL type with one of these names gets `_` at its
 * end there.
 */
const TAKEN: ReadonlySet<string> = new Set([
  // TypeScript's own types and words that cannot name one
  ...'any bigint boolean never null number object string symbol undefined unknown void'.split(' '),
  ...'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new package private protected public return static super switch this throw true try typeof var while with yield'.split(
    ' ',
  ),
  // Globals in the text
  ...'Array AsyncIterable NonNullable Omit Partial Promise PropertyKey Readonly Record Uint8Array'.split(
    ' ',
  ),
  // What the types of the schema and of resolvers are made with
  ...'EventSource GraphQLResolveInfo GraphQLScalarType GraphQLScalarTypeConfig InputMaybe IsTypeOfResolverFn Maybe RequireFields Resolver ResolverTypeWrapper Resolvers ResolversInterfaceTypes ResolversParentTypes ResolversTypes ResolversUnionTypes SubscriptionResolver TypeResolveFn'.split(
    ' ',
  ),
  // What we declare or import
  ...'AuthHooks ColumnType Context Database Generated LoadersOf RequestContext RuntimeAuthHooks ScalarMapping ScalarTypes Scalars loaders'.split(
    ' ',
  ),
]);

/** Endings of names that are made from a type's: `User` makes `UserResolvers`. */
const ENDING = /^(\w+)(?:Overrides|Resolvers|Row|ScalarConfig)$/;

/** Names that every object has from its prototype: tables by type name trip over them. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * How emitted TypeScript calls a GraphQL type: by its own name, or with `_` at its end if that is
 * taken.
 */
export type TypeNames = (type: string) => string;

/**
 * The names of every type that an SDL may declare. Words of descriptions may be among them, and do
 * no harm.
 */
export function typeNamesOf(sdl: string): TypeNames {
  const types = new Set(
    Array.from(
      sdl.matchAll(/\b(?:type|interface|union|enum|input|scalar)(?=\s+(\w+))/g),
      ([, name]) => name!,
    ),
  );
  const clashing = new Set(
    [...types].filter(
      (name) => TAKEN.has(name) || INHERITED.has(name) || types.has(ENDING.exec(name)?.[1] ?? ''),
    ),
  );
  return clashing.size === 0 ? unchanged : (type) => (clashing.has(type) ? `${type}_` : type);
}

/**
 * One function for all schemas without a clash: what was read with it of a definition is good for
 * the next one too.
 */
const unchanged: TypeNames = (type) => type;
