import type { GraphQLSchema } from 'graphql';
import type { Logger } from '../config/log.ts';
import type { Changes } from '../data/changes/changes.ts';
import type { Model } from '../data/model.ts';
import type { Reader } from '../data/reader.ts';
import type { OwnTransactionOptions } from '../context/request-context.ts';
import type { Resolver, Resolvers } from '../plugin.ts';
import type { Store } from '../store/store.ts';

/** The parts that all requests share. They are made once, for all ways to ask for data. */
export interface Engine {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly store: Store;
  readonly reader: Reader;
  readonly changes: Changes;
  readonly resolvers: Resolvers;
  readonly log: Logger;
  readonly now: () => number;
  /** Whether answers hold values of the scalar exactly as the database writes them. */
  isPlain(scalar: string): boolean;
  /** Whether an answer may lack a field that must not be null; never when absent. */
  mayLack?(type: string, field: string): boolean;
  /** Whether a subscription shows removed rows of the entity. */
  watchesRemoval(entity: string): boolean;
}

export type RootKind = 'query' | 'mutation' | 'subscription';

/** The name that the schema gives to a root type. */
export const rootName = ({ schema }: Pick<Engine, 'schema'>, root: RootKind): string | undefined =>
  schema.getRootType(root as never)?.name;

/** The user's resolver for a field, if there is one. `type` is the type's name in the schema. */
export function ownResolver(
  { resolvers }: Engine,
  type: string,
  field: string,
): Resolver | undefined {
  const resolver = resolvers[type]?.[field];
  return typeof resolver === 'function' ? resolver : resolver?.resolve;
}

/** The user's resolver for a field of a root type, if there is one. */
export const ownRootResolver = (
  engine: Engine,
  root: RootKind,
  field: string,
): Resolver | undefined => ownResolver(engine, rootName(engine, root) ?? '', field);

/** The user's `subscribe` function for a subscription field, if there is one. */
export function ownSubscribeResolver(engine: Engine, field: string): Resolver | undefined {
  const resolver = engine.resolvers[rootName(engine, 'subscription') ?? '']?.[field];
  return typeof resolver === 'object' && 'subscribe' in resolver ? resolver.subscribe : undefined;
}

/** Whether the user's code answers a field, or makes its events. */
export const isOwn = (engine: Engine, type: string, field: string): boolean =>
  engine.resolvers[type]?.[field] !== undefined;

/** The options of the transaction of a function of `Mutation`; false when it runs without one. */
export function transactionOf(
  { resolvers }: Engine,
  type: string,
  field: string,
): false | OwnTransactionOptions {
  const resolver = resolvers[type]?.[field];
  return typeof resolver === 'object' && 'transaction' in resolver ? resolver.transaction : {};
}
