import type { Dialect, Query, Store } from '../store/store.ts';

/** Placeholders in the SQL of the queue, with their text for each database, see `jobSql`. */
const WORDS: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  sqlite: {
    $now: `cast(unixepoch('subsec') * 1000 as integer)`,
    $numbers: '(select value from json_each(?))',
    $texts: '(select value from json_each(?))',
    $pairs: "(select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?))",
    $listed: `json_extract(value, '$[0]') as slot, json_extract(value, '$[1]') as data
      from json_each(?)`,
    $locked: '',
  },
  postgres: {
    $now: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
    $numbers: '(select value::bigint from json_array_elements_text(?::json))',
    $texts: '(select value from json_array_elements_text(?::json))',
    $pairs:
      '(select (value ->> 0)::bigint, (value ->> 1)::integer from json_array_elements(?::json))',
    $listed: 'value ->> 0 as slot, value ->> 1 as data from json_array_elements(?::json)',
    $locked: 'for update skip locked',
  },
};

/**
 * The text of a statement for the database. `$now` is its clock in milliseconds, `$numbers` and
 * `$texts` are the elements of a JSON array that is a parameter and `$pairs` those of pairs, `$locked` takes the rows that no
 * other server has locked.
 *
 * @example jobSql('postgres', 'select id from twofold_jobs where id in $numbers and at <= ?')
 */
function jobSql(dialect: Dialect, text: string): string {
  const written = text.replaceAll(/\$\w+/g, (word) => WORDS[dialect][word] ?? word);
  if (dialect === 'sqlite') return written;
  let count = 0;
  return written.replaceAll('?', () => `$${(count += 1)}`);
}

/** Runs a statement of the queue. Placeholders are replaced by the text for the database. */
export type Ask = <Row = Record<string, any>>(
  text: string,
  parameters?: readonly unknown[],
) => Promise<Row[]>;

const TEXTS: Readonly<Record<Dialect, Map<string, string>>> = {
  sqlite: new Map(),
  postgres: new Map(),
};

const textFor = (dialect: Dialect, text: string) => {
  const known = TEXTS[dialect].get(text) ?? jobSql(dialect, text);
  TEXTS[dialect].set(text, known);
  return known;
};

/** Statements that join the running transaction, if there is one. */
export const askStore =
  ({ dialect, query }: Store): Ask =>
  (text, parameters = []) =>
    query(textFor(dialect, text), parameters) as Promise<any[]>;

/** Statements of one transaction of `Store.transact`. */
export const askIn =
  ({ dialect }: Store, query: Query): Ask =>
  (text, parameters = []) =>
    query(textFor(dialect, text), parameters) as Promise<any[]>;

/** Like `askStore`, for one statement that writes: it shares the commit of other requests. */
export const askTogether =
  ({ dialect, query, writeOne }: Store): Ask =>
  (text, parameters = []) => {
    const written = textFor(dialect, text);
    return (writeOne?.(written, parameters) ?? query(written, parameters)) as Promise<any[]>;
  };
