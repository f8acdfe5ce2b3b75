import { isEnumType } from 'graphql';
import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { pascalCase } from '../names.ts';

/**
 * A type that is written for an entity. Where another type has the name, or needs it for itself,
 * there is a `_` between: `PriceListFilter` is the filter of `PriceList`, and `Price_ListFilter`
 * that of lists of `Price`.
 *
 * @example typeName(built, price, 'Filter') // 'PriceFilter'
 */
export function typeName(
  { facts }: Built,
  { name }: Pick<EntityFact, 'name'>,
  suffix: string,
): string {
  const [, word] = /^(.+)(?:Filter|Order)$/.exec(suffix) ?? [];
  const isTaken = facts.entities.has(name + suffix) || facts.entities.has(`${name}${word}`);
  return isTaken || isEnumType(facts.schema.getType(`${name}${word}`))
    ? `${name}_${suffix}`
    : name + suffix;
}

/**
 * The fields that read many rows. A type whose plural is its singular has a list called `newsList`,
 * because `news` is one row, and `allNews` if that is one row of `NewsList`.
 *
 * @example readNames(built, post) // { list: 'posts', connection: 'postsConnection', … }
 */
export function readNames({ facts }: Built, { singular, plural }: EntityFact) {
  const single = new Set([...facts.entities.values()].map((each) => each.singular));
  const all = `all${pascalCase(plural)}`;
  const lists = [plural, `${plural}List`].filter((name) => name !== singular);
  const free = (word: string) => `${single.has(plural + word) ? all : plural}${word}`;
  return {
    list: lists.find((name) => !single.has(name)) ?? all,
    connection: free('Connection'),
    aggregate: free('Aggregate'),
    groups: free('Groups'),
  };
}

/** The fields that write rows. */
export function writeNames({ name, singular, plural }: EntityFact) {
  const many = plural === singular ? `Many${pascalCase(plural)}` : pascalCase(plural);
  return {
    create: `create${name}`,
    update: `update${name}`,
    remove: `delete${name}`,
    upsert: `upsert${name}`,
    createMany: `create${many}`,
    updateMany: `update${many}`,
    removeMany: `delete${many}`,
  };
}
