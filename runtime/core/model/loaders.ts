import type { Loader } from '@twofold/schema';
import type { through } from './fields.ts';

type Key = number | string;

/** How rows of one kind are loaded together. `Row` is the result for one key. */
export interface LoaderWords<Row> extends Omit<Loader, 'name'> {
  readonly [ROW]?: Row;
}

declare const ROW: unique symbol;

/** Loads rows in batches: keys that a request asks for in the same tick share a statement. */
export interface RowLoader<Row> {
  load(key: Key): Promise<Row>;
  loadMany(keys: readonly Key[]): Promise<(Row | Error)[]>;
  /** Forgets what was loaded for the key. */
  clear(key: Key): void;
  clearAll(): void;
  /** Sets what the key loads, unless it is loaded already. */
  prime(key: Key, row: Row): void;
}

/** The type of `ctx.loaders`, derived from the table of loaders. */
export type LoadersOf<Table extends Readonly<Record<string, LoaderWords<any>>>> = {
  readonly [Name in keyof Table]: RowLoader<
    Table[Name] extends LoaderWords<infer Row> ? Row : never
  >;
};

/** One row or null for each key. @example user: loadOne<types.UserRow>('User', 'id') */
export function loadOne<Row>(entity: string, by: string): LoaderWords<Row | null> {
  return { entity, by, many: false };
}

/**
 * The rows that belong to each key.
 *
 * @example postsByAuthor: loadMany<types.PostRow>('Post', 'author_id')
 */
export function loadMany<Row>(
  entity: string,
  by: string,
  via?: ReturnType<typeof through>,
): LoaderWords<Row[]> {
  return {
    entity,
    by,
    many: true,
    ...(via && { via: joinOf(via) }),
  };
}

const joinOf = ({ kind: _kind, managed: _managed, ...join }: ReturnType<typeof through>) => join;
