import type { EntityFact } from '../build/facts.ts';
import { pascalCase, snakeCase } from '../names.ts';

/**
 * The fields that read many rows. A type whose plural is its singular has a list called `newsList`,
 * because `news` is one row.
 *
 * @example readNames(post) // { list: 'posts', connection: 'postsConnection', … }
 */
export function readNames({ singular, plural }: EntityFact) {
  return {
    list: plural === singular ? `${plural}List` : plural,
    connection: `${plural}Connection`,
    aggregate: `${plural}Aggregate`,
    groups: `${plural}Groups`,
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

/** @example enumName('createdAt') // 'CREATED_AT' */
export const enumName = (field: string): string => snakeCase(field).toUpperCase();
