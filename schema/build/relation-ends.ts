import { isInterfaceType, isObjectType, isUnionType, type GraphQLNamedType } from 'graphql';
import { connectionOf } from './connections.ts';
import type { Facts, FieldFact } from './facts.ts';
import { isListArgument } from './list-arguments.ts';

/** A field whose type is an entity, or several. */
export interface End {
  readonly field: FieldFact;
  readonly many: boolean;
  /** The entities that it can reference: one, or the members of an interface or union. */
  readonly targets: readonly string[];
  readonly abstract: boolean;
  /**
   * Whether it is a list with arguments of its own, which a function of the user answers. It does
   * not make another end ambiguous.
   */
  readonly loose: boolean;
}

/** Every field of every entity that is an end of a relation, in the schema's order. */
export function relationEnds(facts: Facts): End[] {
  return [...facts.entities.values()].flatMap((entity) =>
    [...entity.fields.values()].flatMap((field) => endOf(field, facts) ?? []),
  );
}

function endOf(field: FieldFact, facts: Facts): End | undefined {
  if (field.directives.computed) return undefined;
  const connection = connectionOf(field.named.name, facts);
  const named = connection ? connection.node : field.named;
  const many = connection !== undefined || field.type.list;
  const targets = entitiesOf(named, facts);
  const abstract = !isObjectType(named);
  if (targets.length === 0 || (abstract && many) || (!many && field.args.length > 0))
    return undefined;
  return { field, many, targets, abstract, loose: many && !isPlain(field, targets, facts) };
}

/**
 * Whether every argument pages, sorts or filters: it has such a name, or the name of a field of the
 * other type or its key.
 */
function isPlain({ args }: FieldFact, targets: readonly string[], facts: Facts): boolean {
  const known = (name: string) =>
    isListArgument(name) ||
    targets.some((target) => {
      const fields = facts.entities.get(target)?.fields;
      return fields?.has(name) || fields?.has(name.replace(/(?:Id|_id|ID)$/, ''));
    });
  return args.every(({ name }) => known(name));
}

/**
 * The entities of a type: itself, or all members of an interface or union if every member is an
 * entity.
 *
 * @example
 * entitiesOf(schema.getType('SearchResult'), facts) // ['User', 'Post']
 */
export function entitiesOf(type: GraphQLNamedType, facts: Facts): readonly string[] {
  if (facts.entities.has(type.name)) return [type.name];
  if (!isInterfaceType(type) && !isUnionType(type)) return [];
  const members = facts.schema.getPossibleTypes(type).map((member) => member.name);
  return members.every((name) => facts.entities.has(name)) ? members : [];
}
