import type { Project } from '@twofold/schema';
import type { Dialect } from '../store.ts';

/** The languages of SQLite. All others are treated as `simple` there. */
const OF_SQLITE: ReadonlySet<string> = new Set(['simple', 'english']);

/**
 * Warnings at the start of a server: languages that its database does not have.
 *
 * @example missingLanguages(project, 'sqlite') // ['Post is searched by whole words: SQLite has no stems of german words, only of english ones']
 */
export const missingLanguages = ({ entities }: Pick<Project, 'entities'>, dialect: Dialect) =>
  entities.flatMap(({ name, search }) =>
    dialect === 'postgres' || !search || OF_SQLITE.has(search.language)
      ? []
      : [
          `${name} is searched by whole words: SQLite has no stems of ${search.language} words, only of english ones`,
        ],
  );
