import { locationOf } from '../present.ts';
import { isInterfaceType, parse, type FieldDefinitionNode, type GraphQLObjectType } from 'graphql';
import type { Argument, Entity } from '../model.ts';
import type { Facts } from './facts.ts';
import type { OperationFact } from './operations.ts';

/** The arguments to add, by field: `User.posts`. */
type Added = Map<string, readonly Argument[]>;

/**
 * The served SDL, in which every list has the arguments that page it: the schema may leave them out,
 * and a list whose end nobody can reach would be useless.
 *
 * @example withPages(facts, entities, operations) // 'type Query { posts(limit: Int, offset: Int): [Post!]! }'
 */
export function withPages(
  facts: Facts,
  entities: readonly Entity[],
  operations: readonly OperationFact[],
): string {
  const { sdl, schema } = facts.parsed;
  const added: Added = new Map();
  const note = (type: string, field: string, args: readonly Argument[], declared: number) => {
    if (args.length > declared) added.set(`${type}.${field}`, args.slice(declared));
  };
  for (const { field, operation } of operations)
    note(field.owner, field.name, operation.args, field.args.length);
  for (const { name, fields } of entities)
    for (const { name: field, args } of fields)
      note(name, field, args, facts.entities.get(name)?.fields.get(field)?.args.length ?? 0);
  if (added.size === 0) return sdl;
  for (const type of Object.values(schema.getTypeMap()))
    if (isInterfaceType(type)) addToInterface(added, type.name, schema.getPossibleTypes(type));
  return inserted(sdl, added);
}

/** A field of an interface gets what the field got in every member. */
function addToInterface(added: Added, name: string, members: readonly GraphQLObjectType[]): void {
  const [first, ...others] = members;
  for (const field of Object.keys(first?.getFields() ?? {})) {
    const args = added
      .get(`${first!.name}.${field}`)
      ?.filter((argument) =>
        others.every((member) =>
          added.get(`${member.name}.${field}`)?.some((own) => own.name === argument.name),
        ),
      );
    if (args?.length) added.set(`${name}.${field}`, args);
  }
}

/** Writes the arguments into the text and leaves the rest of it as it is. */
function inserted(sdl: string, added: Added): string {
  const parts: string[] = [];
  let from = 0;
  for (const definition of parse(sdl).definitions)
    if ('fields' in definition && 'name' in definition)
      for (const field of definition.fields ?? []) {
        const args = added.get(`${definition.name?.value}.${field.name.value}`);
        if (!args || field.kind !== 'FieldDefinition') continue;
        const [at, text] = insertion(field, args);
        parts.push(sdl.slice(from, at), text);
        from = at;
      }
  return parts.join('') + sdl.slice(from);
}

function insertion(
  field: FieldDefinitionNode,
  args: readonly Argument[],
): readonly [at: number, text: string] {
  const text = args.map(({ name, type }) => `${name}: ${type.text}`).join(', ');
  const last = field.arguments?.at(-1);
  return last ? [locationOf(last).end, `, ${text}`] : [locationOf(field.name).end, `(${text})`];
}
