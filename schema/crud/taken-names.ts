import type { Built } from '../build/built.ts';
import type { Finding } from '../parse/places.ts';
import { finding } from '../rules/finding.ts';
import type { CrudItem } from './item.ts';
import type { CrudSdl } from './write-crud.ts';

/**
 * CRUD_NAME_TAKEN, at both places: the definition that has a name, and the type that needs it for
 * what is written.
 */
export function takenNames(built: Built, { taken, items }: CrudSdl): Finding[] {
  return taken.flatMap((item) => {
    const definition = built.facts.schema.getType(item.name)?.astNode;
    const needing = items.filter(({ name }) => name === item.name).map(({ of }) => of?.node);
    const places = [definition?.name, ...needing].filter((node) => node !== undefined);
    const by = definition ? 'definition' : 'repeated';
    return (places.length > 0 ? places : [undefined]).map((node) => nameTaken(item, node, by));
  });
}

function nameTaken(
  { name, of, keyword }: CrudItem,
  at: Finding['at'],
  by: 'definition' | 'repeated',
): Finding {
  const type = of ? ` for ${of.name}` : '';
  const other =
    by === 'definition' ? 'the schema uses it for something else' : 'another type needs it too';
  return finding(
    'CRUD_NAME_TAKEN',
    `${name} is to be written as ${ARTICLES[keyword]}${type}, and ${other}`,
    at,
    {
      why: 'what is written has fixed names, so that it stays the same when types are added',
      fix: of
        ? `rename yours, or leave out what needs it: type ${of.name} @crud(operations: [GET, CREATE])`
        : 'rename yours',
    },
  );
}

const ARTICLES: Readonly<Record<CrudItem['keyword'], string>> = {
  type: 'a type',
  input: 'an input',
  enum: 'an enum',
  scalar: 'a scalar',
};
