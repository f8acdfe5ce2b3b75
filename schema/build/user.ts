import { USER_ATTRIBUTES, type UserAttribute } from '../model/access.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';

/**
 * The entity that is the user: the one that the manifest names, otherwise `User` if it has an
 * email.
 *
 * @example
 * userEntity(facts)?.name // 'User'
 */
export function userEntity(facts: Facts): EntityFact | undefined {
  if (!facts.signIn) return undefined;
  const entity = facts.entities.get(facts.signIn.user ?? 'User');
  return entity && userAttributes(entity).has('email') ? entity : undefined;
}

/**
 * The user attributes that an entity declares, in either casing: `avatarUrl` and `avatar_url` are
 * the same.
 */
export function userAttributes(entity: EntityFact): ReadonlyMap<UserAttribute, FieldFact> {
  const known = new Set<string>(USER_ATTRIBUTES);
  const fields = [...entity.fields.values()].filter(
    (field) => isPlain(field) && known.has(field.snakeName),
  );
  return new Map(fields.map((field) => [field.snakeName as UserAttribute, field]));
}

function isPlain(field: FieldFact): boolean {
  return (
    field.type.kind === 'scalar' &&
    !field.type.list &&
    (field.args.length === 0 || field.directives.column !== undefined) &&
    !field.directives.computed
  );
}
