import { getNamedType, isAbstractType } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType } from 'graphql';
import type { ErrorType, Project } from '../model.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';
import { Refusal } from './shapes.ts';

/**
 * The type that a mutation answers with when it succeeds: the type of the field, or the member of a
 * union or interface that is the entity, or a payload with it.
 *
 * @example
 * answeredType(facts, field, user) // User, of `union CreateUserResult = User | EmailTaken`
 */
export function answeredType(
  facts: Facts,
  { named, type }: FieldFact,
  entity: EntityFact,
): GraphQLNamedType {
  if (!isAbstractType(named)) return named;
  const members = successes(facts, named);
  const own = members.find(({ name }) => name === entity.name);
  const payloads = members.filter(({ name }) => facts.types.get(name)?.role === 'payload');
  const holders = payloads.filter((payload) => holds(payload, entity));
  const [only, ...others] = holders.length > 0 ? holders : payloads;
  if (own) return own;
  if (only && others.length === 0) return only;
  throw new Refusal(`${type.text} has ${only ? 'several payloads' : `no member ${entity.name}`}`);
}

/** The only entity among the members of a result union. */
export function answeredEntity(facts: Facts, { named }: FieldFact): EntityFact | undefined {
  if (!isAbstractType(named)) return undefined;
  const found = successes(facts, named).flatMap(({ name }) => facts.entities.get(name) ?? []);
  return found.length === 1 ? found[0] : undefined;
}

const successes = (
  { schema, types }: Facts,
  named: Parameters<typeof schema.getPossibleTypes>[0],
): GraphQLObjectType[] =>
  schema
    .getPossibleTypes(named)
    .filter(({ name }) => types.get(name)?.directives.errors.length === 0);

const holds = (payload: GraphQLObjectType, { name }: EntityFact): boolean =>
  Object.values(payload.getFields()).some((field) => getNamedType(field.type).name === name);

/** Whether a type is a member of the union or interface that a field answers with. */
export const answersWith = (
  { schema }: Facts,
  { named }: FieldFact,
  member: GraphQLObjectType,
): boolean => isAbstractType(named) && schema.isSubType(named, member);

/** The types with `@error`, by name. */
export function errorTypes({ types }: Facts): Pick<Project, 'errors'> {
  const errors = [...types.values()].flatMap(({ type, directives }) =>
    directives.errors.map(({ node: _node, ...words }): ErrorType => ({
      type: type.name,
      ...words,
    })),
  );
  const byName = errors.toSorted((a, b) => (a.type < b.type ? -1 : Number(a.type > b.type)));
  return errors.length > 0 ? { errors: byName } : {};
}
