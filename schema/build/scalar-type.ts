import { isEnumType, type GraphQLNamedType } from 'graphql';
import type { ColumnType } from '../model.ts';
import { knownScalar } from '../scalars.ts';
import type { Facts } from './facts.ts';

/** The stored type of a single scalar or enum. */
export function scalarType(type: GraphQLNamedType, facts: Facts): ColumnType {
  if (isEnumType(type)) return 'text';
  return knownScalar(type.name)?.column ?? facts.scalars?.get(type.name) ?? 'text';
}
