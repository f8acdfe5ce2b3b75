import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';

export type * from './written-types.ts';

/**
 * A schema in types, as `src/generated/types.ts` has it: references stand there as the SDL writes
 * them, and the types below make values, arguments and resolvers of them.
 */
export interface SchemaTypes {
  /** By name, what a caller gives and what is answered. */
  readonly scalars: object;
  readonly enums: object;
  /** The row that a resolver of the type gets as its parent. */
  readonly rows: object;
  /** The fields of object types and interfaces. */
  readonly fields: object;
  /** The types of each interface and union. */
  readonly possible: object;
  readonly inputs: object;
  /** Inputs of which exactly one field is given. */
  readonly oneOf: object;
  readonly roots: string;
  readonly subscription: string;
}

/** A field with arguments. */
export interface WithArgs<Type extends string, Args> {
  readonly type: Type;
  readonly args: Args;
}

export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;

/** The result of a resolver: a value, or a promise of one. */
export type ResolverTypeWrapper<T> = Promise<T> | T;

/** Arguments, of which these are never absent: they are required or have a default. */
export type RequireFields<T, K extends keyof T> = T & { [P in K]-?: NonNullable<T[P]> };

/** The resolver of one field. */
export type Resolver<Result, Parent, Context, Args = Record<PropertyKey, never>> = (
  parent: Parent,
  args: Args,
  ctx: Context,
  info: GraphQLResolveInfo,
) => Promise<Result> | Result;

/**
 * Answers one field of a subscription: where its events come from, and what is made of each. Without
 * `resolve` an event holds the field.
 */
export type SubscriptionResolver<
  Result,
  Key extends PropertyKey,
  Parent,
  Context,
  Args = Record<PropertyKey, never>,
> =
  | {
      subscribe: EventSource<{ [key in Key]: Result }, Parent, Context, Args>;
      resolve?: Resolver<Result, { [key in Key]: Result }, Context, Args>;
    }
  | {
      subscribe: EventSource<any, Parent, Context, Args>;
      resolve: Resolver<Result, any, Context, Args>;
    };

/** Begins to listen. */
export type EventSource<Event, Parent, Context, Args> = (
  parent: Parent,
  args: Args,
  ctx: Context,
  info: GraphQLResolveInfo,
) => AsyncIterable<Event> | Promise<AsyncIterable<Event>>;

/**
 * What a name stands for: in an input, in a value, as the result of a resolver, in a value that a
 * resolver returns, or in the parent of one.
 */
type Place = 'input' | 'output' | 'result' | 'member' | 'parent';

type RefOf<Entry> = Entry extends string
  ? Entry
  : Entry extends { readonly type: infer Ref extends string }
    ? Ref
    : never;

type ArgsIn<Entry> = Entry extends { readonly args: infer Args } ? Args : never;

/** `[Post!]! = []` → `Post[]` */
type TypeOf<S extends SchemaTypes, Ref, At extends Place> = Ref extends `${infer Inner} = ${string}`
  ? TypeOf<S, Inner, At>
  : Ref extends `${infer Inner}!`
    ? Bare<S, Inner, At>
    : At extends 'input'
      ? InputMaybe<Bare<S, Ref, At>>
      : Maybe<Bare<S, Ref, At>>;

type Bare<S extends SchemaTypes, Ref, At extends Place> = Ref extends `[${infer Item}]`
  ? Array<TypeOf<S, Item, At>>
  : Named<S, Ref, At>;

type Named<S extends SchemaTypes, Name, At extends Place> = Name extends keyof S['scalars']
  ? Scalar<S['scalars'][Name], At>
  : Name extends keyof S['enums']
    ? S['enums'][Name]
    : Name extends keyof S['inputs'] | keyof S['oneOf']
      ? InputValue<S, Name>
      : At extends 'output'
        ? Value<S, Name>
        : At extends 'parent'
          ? Held<S, Name, 'parent'>
          : ResolverTypeWrapper<Held<S, Name, 'member'>>;

type Scalar<Sides, At extends Place> = Sides extends { input: infer Input; output: infer Output }
  ? At extends 'input'
    ? Input
    : At extends 'result'
      ? ResolverTypeWrapper<Output>
      : Output
  : never;

type Value<S extends SchemaTypes, Name> = Name extends keyof S['fields']
  ? ObjectType<S, Name>
  : Name extends keyof S['possible']
    ? Value<S, S['possible'][Name]>
    : never;

type InputValue<S extends SchemaTypes, Name> = Name extends keyof S['oneOf']
  ? OneOfType<S, Name>
  : Name extends keyof S['inputs']
    ? InputType<S, Name>
    : never;

/** A row, or the object with the rows in it. */
type Held<S extends SchemaTypes, Name, At extends 'member' | 'parent'> = Name extends S['roots']
  ? Record<PropertyKey, never>
  : Name extends keyof S['rows']
    ? S['rows'][Name]
    : Name extends keyof S['possible']
      ? Held<S, S['possible'][Name], At>
      : Name extends keyof S['fields']
        ? { [K in keyof S['fields'][Name]]: TypeOf<S, RefOf<S['fields'][Name][K]>, At> }
        : never;

/** The values of an object type or of an interface. */
export type ObjectType<S extends SchemaTypes, Name extends keyof S['fields']> = {
  [K in keyof S['fields'][Name]]: TypeOf<S, RefOf<S['fields'][Name][K]>, 'output'>;
};

/** The values of an input type. */
export type InputType<S extends SchemaTypes, Name extends keyof S['inputs']> = {
  [K in keyof S['inputs'][Name]]: TypeOf<S, RefOf<S['inputs'][Name][K]>, 'input'>;
};

/** The values of an input type of which exactly one field is given. */
export type OneOfType<S extends SchemaTypes, Name extends keyof S['oneOf']> = {
  [K in keyof S['oneOf'][Name]]-?: {
    [Given in K]-?: NonNullable<TypeOf<S, RefOf<S['oneOf'][Name][K]>, 'input'>>;
  } & { [Other in Exclude<keyof S['oneOf'][Name], K>]?: never };
}[keyof S['oneOf'][Name]];

/** The arguments of a field. */
export type ArgsOf<
  S extends SchemaTypes,
  Type extends keyof S['fields'],
  Field extends keyof S['fields'][Type],
> = {
  [K in keyof ArgsIn<S['fields'][Type][Field]>]: TypeOf<
    S,
    RefOf<ArgsIn<S['fields'][Type][Field]>[K]>,
    'input'
  >;
};

/** Arguments that are required or have a default. */
type Present<Args> = {
  [K in keyof Args]-?: NonNullable<Args[K]> extends `${string}!` | `${string} = ${string}`
    ? K
    : never;
}[keyof Args];

type GivenArgs<
  S extends SchemaTypes,
  Type extends keyof S['fields'],
  Field extends keyof S['fields'][Type],
> = S['fields'][Type][Field] extends string | undefined
  ? Record<PropertyKey, never>
  : [Present<ArgsIn<S['fields'][Type][Field]>>] extends [never]
    ? Partial<ArgsOf<S, Type, Field>>
    : RequireFields<ArgsOf<S, Type, Field>, Present<ArgsIn<S['fields'][Type][Field]>>>;

/** The resolvers of an object type. */
export type ResolversOf<S extends SchemaTypes, Type extends keyof S['fields'], Context, Parent> = {
  [K in keyof S['fields'][Type]]?: Resolver<
    TypeOf<S, RefOf<S['fields'][Type][K]>, 'result'>,
    Parent,
    Context,
    GivenArgs<S, Type, K>
  >;
};

/** The resolvers of the type Subscription. */
export type SubscriptionsOf<
  S extends SchemaTypes,
  Type extends keyof S['fields'],
  Context,
  Parent,
> = {
  [K in keyof S['fields'][Type]]?: SubscriptionResolver<
    TypeOf<S, RefOf<S['fields'][Type][K]>, 'result'>,
    K,
    Parent,
    Context,
    GivenArgs<S, Type, K>
  >;
};

/** Says whether a value is of this type. */
export interface IsTypeOf<Parent, Context> {
  __isTypeOf?: (
    value: Parent,
    ctx: Context,
    info: GraphQLResolveInfo,
  ) => boolean | Promise<boolean>;
}

/** Says which type of an interface or union a value is of. */
export interface ResolveType<
  S extends SchemaTypes,
  Name extends keyof S['possible'],
  Context,
  Parent,
> {
  __resolveType: (
    parent: Parent,
    ctx: Context,
    info: GraphQLResolveInfo,
  ) => Maybe<S['possible'][Name]> | Promise<Maybe<S['possible'][Name]>>;
}

type OutputNames<S extends SchemaTypes> =
  | keyof S['scalars']
  | keyof S['fields']
  | keyof S['possible'];
type InputNames<S extends SchemaTypes> = keyof S['inputs'] | keyof S['oneOf'];

/** What resolvers return, by the names of all types. */
export type ResultTypes<S extends SchemaTypes> = {
  [Name in OutputNames<S> | InputNames<S> | keyof S['enums']]: Named<S, Name, 'result'>;
};

/** What resolvers get as their parent, by the names of all types. */
export type ParentTypes<S extends SchemaTypes> = {
  [Name in OutputNames<S> | InputNames<S>]: Named<S, Name, 'parent'>;
};

/** The inputs, by name. */
export type InputTypes<S extends SchemaTypes> = {
  [Name in InputNames<S>]: InputValue<S, Name>;
};

type OwnScalars<S extends SchemaTypes> = Exclude<
  keyof S['scalars'],
  'Boolean' | 'Float' | 'ID' | 'Int' | 'String'
>;

/** The resolvers of all types. */
export type AllResolvers<S extends SchemaTypes, Context> = {
  [
    Name in keyof S['fields'] | keyof S['possible'] | OwnScalars<S>
  ]?: Name extends keyof S['possible']
    ? ResolveType<S, Name, Context, Held<S, Name, 'parent'>>
    : Name extends keyof S['fields']
      ? Name extends S['subscription']
        ? SubscriptionsOf<S, Name, Context, Held<S, Name, 'parent'>>
        : ResolversOf<S, Name, Context, Held<S, Name, 'parent'>>
      : GraphQLScalarType;
};
