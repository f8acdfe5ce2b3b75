import type { Built } from '../build/built.ts';
import type { Finding } from '../parse/places.ts';
import { type Advice, finding, onType } from '../rules/finding.ts';
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
    return (places.length > 0 ? places : [undefined]).map((node) =>
      finding('CRUD_NAME_TAKEN', `${summaryOf(item)}, and ${OTHERS[by]}`, node, {
        why: 'what is written has fixed names, so that it stays the same when types are added',
        ...advise(built, item, definition ? item.name : (item.of?.name ?? item.name)),
      }),
    );
  });
}

const summaryOf = ({ name, keyword, of }: CrudItem) =>
  `${name} is to be written as ${ARTICLES[keyword]}${of ? ` for ${of.name}` : ''}`;

const OTHERS = {
  definition: 'the schema uses it for something else',
  repeated: 'another type needs it too',
} as const;

/** @param yours the definition of the user that can have another name. */
function advise({ facts }: Built, item: CrudItem, yours: string): Advice {
  const entity = facts.entities.get(item.of?.name ?? '');
  if (!entity) return { fix: `rename ${yours}` };
  const operations = `[${operationsWithout(item, entity.name)}]`;
  return {
    changes: [onType(entity, 'crud', { operations })],
    fix: (line) => `rename ${yours}, or leave out what needs it: ${line}`,
  };
}

/** Operations of a type that do not need the item. Filters and orders of other types lead to its own. */
function operationsWithout({ name }: CrudItem, entity: string): string {
  if (name === `Create${entity}Input`) return 'GET, LIST, UPDATE, DELETE';
  return /(?:Filter|Order)$/.test(name) ? '' : 'GET, CREATE';
}

const ARTICLES: Readonly<Record<CrudItem['keyword'], string>> = {
  type: 'a type',
  input: 'an input',
  enum: 'an enum',
  scalar: 'a scalar',
};
