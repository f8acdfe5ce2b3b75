import { type GraphQLAbstractType, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { entityOf } from '../data/model.ts';
import { TYPE_KEY } from '../data/sql/scope.ts';
import type { RequestContext } from '../context/request-context.ts';
import { ErrorMember } from './error-members.ts';
import { ownResolver, type Engine } from './engine.ts';

/** `__resolveType` or `__isTypeOf`, which a project writes beside its resolvers. */
type Ask = (value: unknown, context: RequestContext, info: GraphQLResolveInfo) => unknown;

const ownFunction = (engine: Engine, type: string, name: '__resolveType' | '__isTypeOf') =>
  ownResolver(engine, type, name) as Ask | undefined;

/** An object that a plan read names its type. */
const typeOfTree = (value: any): string | undefined =>
  value?.[TYPE_KEY] ?? ErrorMember.typeOf(value);

/** Attaches the project's `__isTypeOf`, which tells whether a value is of the type. */
export function attachIsTypeOf(engine: Engine, type: GraphQLObjectType): void {
  const own = ownFunction(engine, type.name, '__isTypeOf');
  if (own)
    type.isTypeOf = (value, context, info) =>
      typeOfTree(value) !== undefined || (own(value, context as RequestContext, info) as boolean);
}

/**
 * Finds the type of a value of an interface or union: by `__resolveType` of the abstract type, then
 * by `__isTypeOf` of its members, then by `__typename` of the value.
 */
export function attachResolveType(engine: Engine, type: GraphQLAbstractType): void {
  const own = ownFunction(engine, type.name, '__resolveType');
  const members = engine.schema
    .getPossibleTypes(type)
    .flatMap(({ name }) => ({ name, is: ownFunction(engine, name, '__isTypeOf') }))
    .filter(({ is }) => is);
  const byName = (value: any) => value?.__typename ?? entityOf(value);
  type.resolveType = (value, context, info) => {
    const read = typeOfTree(value);
    if (read !== undefined || (!own && members.length === 0)) return read ?? byName(value);
    return ask(value, context as RequestContext, info);
  };
  const ask = async (value: unknown, context: RequestContext, info: GraphQLResolveInfo) => {
    const named = await own?.(value, context, info);
    if (named !== undefined && named !== null) return named;
    for (const { name, is } of members) if (await is?.(value, context, info)) return name;
    return byName(value);
  };
}
