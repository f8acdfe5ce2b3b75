import { type Code, raw } from '../../code.ts';

/** The generic helper types of resolvers; each is printed only if the text uses it. */
export function printGenericTypes(text: string): Code {
  const used = GENERIC_TYPES.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text));
  const types = [...new Set(used.flatMap(({ needs }) => needs))];
  const graphql = types.concat(
    ['GraphQLScalarType', 'GraphQLScalarTypeConfig'].filter((name) =>
      new RegExp(`\\b${name}\\b`).test(text),
    ),
  );
  return {
    ...raw(used.map(({ text: own }) => own).join('\n\n')),
    imports: graphql.map((name) => ({ from: '@twofold/runtime', name, as: name, typeOnly: true })),
  };
}

interface GenericType {
  readonly name: string;
  readonly needs: readonly string[];
  readonly text: string;
}

const INFO = ['GraphQLResolveInfo'];

const GENERIC_TYPES: readonly GenericType[] = [
  {
    name: 'RequireFields',
    needs: [],
    text: `/** Arguments, of which these are never absent: they are required or have a default. */
export type RequireFields<T, K extends keyof T> = T & { [P in K]-?: NonNullable<T[P]> };`,
  },
  {
    name: 'ResolverTypeWrapper',
    needs: [],
    text: `/** The result of a resolver: a value, or a promise of one. */
export type ResolverTypeWrapper<T> = Promise<T> | T;`,
  },
  {
    name: 'Resolver',
    needs: INFO,
    text: `/** The resolver of one field. */
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = (parent: Parent, args: Args, ctx: ContextType, info: GraphQLResolveInfo) => Promise<Result> | Result;`,
  },
  {
    name: 'SubscriptionResolver',
    needs: INFO,
    text: `/** Answers one field of a subscription: where its events come from, and what is made of each. Without \`resolve\` an event holds the field. */
export type SubscriptionResolver<Result, Key extends string, Parent, ContextType, Args = Record<PropertyKey, never>> =
  | { subscribe: EventSource<{ [key in Key]: Result }, Parent, ContextType, Args>; resolve?: Resolver<Result, { [key in Key]: Result }, ContextType, Args> }
  | { subscribe: EventSource<any, Parent, ContextType, Args>; resolve: Resolver<Result, any, ContextType, Args> };

/** Begins to listen. */
export type EventSource<Event, Parent, ContextType, Args> = (parent: Parent, args: Args, ctx: ContextType, info: GraphQLResolveInfo) => AsyncIterable<Event> | Promise<AsyncIterable<Event>>;`,
  },
  {
    name: 'TypeResolveFn',
    needs: INFO,
    text: `/** Says which type of an interface or union a value is of. */
export type TypeResolveFn<Types, Parent, ContextType> = (parent: Parent, ctx: ContextType, info: GraphQLResolveInfo) => Maybe<Types> | Promise<Maybe<Types>>;`,
  },
  {
    name: 'IsTypeOfResolverFn',
    needs: INFO,
    text: `/** Says whether a value is of this type. */
export type IsTypeOfResolverFn<Value, ContextType> = (value: Value, ctx: ContextType, info: GraphQLResolveInfo) => boolean | Promise<boolean>;`,
  },
];
