import type { Entity } from '@twofold/schema';
import type { FieldSelection } from './field-selection.ts';
import type { RestService } from './service.ts';

/**
 * The types whose rows an answer embeds in those of `entity`, each once.
 *
 * @example embeddedTypes(service, 'Post', readFieldSelection({ include: 'author' })) // [Author]
 */
export function embeddedTypes(
  service: RestService,
  entity: string,
  selection: FieldSelection,
): readonly Entity[] {
  const found = new Set(namesIn(service, entity, selection));
  return service.engine.model.project.entities.filter(({ name }) => found.has(name));
}

function* namesIn(
  service: RestService,
  entity: string,
  { fields, include }: FieldSelection,
): Generator<string> {
  const members = service.members(entity);
  for (const name of new Set([...include.keys(), ...(fields ?? [])])) {
    const member = members.get(name);
    if (member?.kind !== 'relation') continue;
    for (const type of typesOf(service, member.field.type.name)) {
      yield type;
      const inner = include.get(name);
      if (inner) yield* namesIn(service, type, inner);
    }
  }
}

/** The type, or the members of an interface or a union. */
const typesOf = ({ engine }: RestService, name: string): readonly string[] =>
  engine.model.project.abstracts.find((each) => each.name === name)?.members ?? [name];
