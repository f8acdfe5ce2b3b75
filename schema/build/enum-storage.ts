import type { GraphQLEnumType } from 'graphql';
import { readFieldDirectives } from '../directives/of-fields.ts';
import type { EnumType } from '../model.ts';

/**
 * How the values of an enum are stored: its type in PostgreSQL, and values with another name.
 *
 * @example enumStorage(rating) // { databaseType: 'mpaa_rating', storedValues: { PG_13: 'PG-13' } }
 */
export function enumStorage(
  type: GraphQLEnumType,
): Pick<EnumType, 'databaseType' | 'storedValues'> {
  const written = [type.astNode, ...type.extensionASTNodes].flatMap((node) =>
    node ? (readFieldDirectives([node]).column?.type ?? []) : [],
  )[0];
  const renamed = type.getValues().flatMap(({ name, astNode }) => {
    const stored = readFieldDirectives([astNode ?? {}]).column?.name;
    return stored === undefined || stored === name ? [] : [[name, stored] as const];
  });
  return {
    ...(written !== undefined && { databaseType: written }),
    ...(renamed.length > 0 && { storedValues: Object.fromEntries(renamed) }),
  };
}
