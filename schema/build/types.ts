import { isEnumType, isInputObjectType, isInterfaceType, isScalarType, isUnionType } from 'graphql';
import type { GraphQLEnumType, GraphQLInputObjectType, GraphQLNamedType } from 'graphql';
import type { AbstractType, Constraint, EnumType, ObjectType, ScalarType } from '../model.ts';
import { knownScalar } from '../scalars.ts';
import { scalarType, fieldFacts, type Facts } from './facts.ts';
import { readFieldDirectives } from '../directives/of-fields.ts';

/** The types of a schema that have no table. */
export interface OtherTypes {
  /** Limits of the fields of inputs: `NewTag.color`. */
  readonly constraints?: Readonly<Record<string, Constraint>>;
  readonly objects: readonly ObjectType[];
  readonly abstracts: readonly AbstractType[];
  readonly enums: readonly EnumType[];
  readonly scalars: readonly ScalarType[];
}

export function buildTypes(facts: Facts): OtherTypes {
  const all = Object.values(facts.schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__'),
  );
  return {
    objects: buildObjects(facts),
    abstracts: all.flatMap((type) => abstractType(facts, type) ?? []),
    enums: all.filter(isEnumType).map(enumType),
    ...constraintsOf(all.filter(isInputObjectType)),
    scalars: all.filter(isScalarType).map((type) => ({
      name: type.name,
      column: scalarType(type, facts),
      source: knownScalar(type.name)?.source ?? 'user',
    })),
  };
}

function constraintsOf(types: readonly GraphQLInputObjectType[]): Pick<OtherTypes, 'constraints'> {
  const found = types.flatMap((type) =>
    Object.values(type.getFields()).flatMap(({ name, astNode }) => {
      const { constraint } = readFieldDirectives([astNode ?? {}]);
      return constraint ? [[`${type.name}.${name}`, constraint] as const] : [];
    }),
  );
  return found.length > 0 ? { constraints: Object.fromEntries(found) } : {};
}

function buildObjects(facts: Facts): ObjectType[] {
  return [...facts.types.values()].flatMap(({ type, role }) => {
    if (role === 'entity') return [];
    const fields = Array.from(fieldFacts(type, facts.types).values(), ({ name, type, args }) => ({
      name,
      type,
      args: args.map((argument) => ({ name: argument.name, type: argument.type })),
    }));
    return [{ name: type.name, role, fields }];
  });
}

function abstractType(facts: Facts, type: GraphQLNamedType): AbstractType | undefined {
  if (!isInterfaceType(type) && !isUnionType(type)) return undefined;
  const members = facts.schema.getPossibleTypes(type).map((member) => member.name);
  return { name: type.name, kind: isUnionType(type) ? 'union' : 'interface', members };
}

function enumType(type: GraphQLEnumType): EnumType {
  const renames = type.getValues().flatMap((value) => {
    const { renamed } = readFieldDirectives([value.astNode ?? {}]);
    return renamed === undefined ? [] : [{ from: renamed, to: value.name }];
  });
  return {
    name: type.name,
    values: type.getValues().map((value) => value.name),
    ...enumStorage(type),
    ...(renames.length > 0 && { renames }),
  };
}

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
