import { accentedBlocks, accentedLetters, newSigns } from './words.ts';
import {
  CLASSES,
  indexedOf,
  keyColumn,
  keyParts,
  type SearchedTable,
  type SearchIndex,
} from './search-index.ts';
import { quotedName, quotedText } from '../quoting.ts';

/** A key that is not the number of the row has its own table, with a number for each row. */
export const keysTable = (name: string): string => `${name}_keys`;

/**
 * The statements that make the index on SQLite: FTS5 without the texts, which the table has
 * already. The triggers use nothing but SQLite's own functions, so that every program may write.
 */
export function sqliteSearch(index: SearchIndex, table: SearchedTable): readonly string[] {
  return [
    `create virtual table ${quotedName(index.name)} using fts5(${columnsOf(index).join(', ')}, content='', contentless_delete=1, prefix='1 2 3', tokenize=${quotedText(tokenizer(index))})`,
    ...(table.byNumber ? [] : [keysOf(index, table)]),
    ...filled(index, table),
    ...triggers(index, table),
  ];
}

/** FTS5 has at least one column for each class of fields. */
const columnsOf = ({ columns }: SearchIndex): string[] =>
  Array.from({ length: Math.max(CLASSES, columns.length) }, (_, at) => `c${at}`);

/** Letters, digits and marks, without accents; `english` by their stems. */
function tokenizer({ language }: SearchIndex): string {
  const words = `unicode61 remove_diacritics 2 categories ${quotedText('L* Nd M*')} separators ${quotedText(newSigns())}`;
  return language === 'english' ? `porter ${words}` : words;
}

function keysOf({ name }: SearchIndex, { key }: SearchedTable): string {
  const columns = key.map((_, at) => keyColumn(at));
  return `create table ${quotedName(keysTable(name))} (doc integer primary key, ${columns.join(', ')}, unique (${columns.join(', ')}))`;
}

function filled(index: SearchIndex, table: SearchedTable): string[] {
  const { name, columns } = index;
  const values = columns.map((column) => words(index, quotedName(column)));
  const into = `insert into ${quotedName(name)} (rowid, ${columns.map((_, at) => `c${at}`).join(', ')})`;
  if (table.byNumber)
    return [
      `${into} select ${quotedName(table.key[0]!)}, ${values.join(', ')} from ${quotedName(index.table)}`,
    ];
  const keys = quotedName(keysTable(name));
  const same = table.key.map((column, at) => `k.${keyColumn(at)} = t.${quotedName(column)}`);
  return [
    `insert into ${keys} (${table.key.map((_, at) => keyColumn(at)).join(', ')}) select ${keyParts(table).join(', ')} from ${quotedName(index.table)}`,
    `${into} select k.doc, ${columns.map((column) => words(index, `t.${quotedName(column)}`)).join(', ')} from ${quotedName(index.table)} t join ${keys} k on ${same.join(' and ')}`,
  ];
}

/**
 * A row that REPLACE overwrites is deleted without a trigger, so an insert deletes too. What such a
 * statement leaves in the index has no row, and is never found.
 */
function triggers(index: SearchIndex, table: SearchedTable): string[] {
  const { name, columns } = index;
  const on = (event: string, body: readonly string[]) =>
    `create trigger ${quotedName(`${name}_${event.split(' ', 1)[0]}`)} after ${event} on ${quotedName(index.table)} begin ${body.map((each) => `${each}; `).join('')}end`;
  const changed = [...new Set([...table.key, ...columns])].map(quotedName).join(', ');
  return [
    on('insert', [...removed(index, table, 'new.'), ...added(index, table)]),
    on(`update of ${changed}`, [
      ...removed(index, table, 'old.'),
      ...removed(index, table, 'new.'),
      ...added(index, table),
    ]),
    on('delete', removed(index, table, 'old.')),
  ];
}

function removed({ name }: SearchIndex, table: SearchedTable, row: 'old.' | 'new.'): string[] {
  const [key] = keyParts(table, row);
  if (table.byNumber) return [`delete from ${quotedName(name)} where rowid = ${key}`];
  const keys = quotedName(keysTable(name));
  const same = keyParts(table, row).map((part, at) => `${keyColumn(at)} = ${part}`);
  return [
    `delete from ${quotedName(name)} where rowid in (select doc from ${keys} where ${same.join(' and ')})`,
    `delete from ${keys} where ${same.join(' and ')}`,
  ];
}

function added(index: SearchIndex, table: SearchedTable): string[] {
  const { name, columns } = index;
  const values = columns.map((column) => words(index, `new.${quotedName(column)}`)).join(', ');
  const into = `insert into ${quotedName(name)} (rowid, ${columns.map((_, at) => `c${at}`).join(', ')})`;
  if (table.byNumber) return [`${into} values (${keyParts(table, 'new.')[0]}, ${values})`];
  const keys = quotedName(keysTable(name));
  const parts = keyParts(table, 'new.');
  const same = parts.map((part, at) => `${keyColumn(at)} = ${part}`);
  return [
    `insert into ${keys} (${parts.map((_, at) => keyColumn(at)).join(', ')}) values (${parts.join(', ')})`,
    `${into} select doc, ${values} from ${keys} where ${same.join(' and ')}`,
  ];
}

/**
 * The text of a column as it is indexed. FTS5 takes accents off Latin letters only, so Greek and
 * Cyrillic ones are replaced before, in texts that have any.
 */
function words(index: SearchIndex, column: string): string {
  const given = `substr(${column}, 1, ${indexedOf(index)})`;
  const replaced = accentedLetters().reduce(
    (value, [letter, base]) => `replace(${value}, ${quotedText(letter)}, ${quotedText(base)})`,
    given,
  );
  return `case when ${column} glob ${quotedText(`*[${accentedBlocks()}]*`)} then ${replaced} else ${given} end`;
}

/** The statements that take the index back. */
export function dropSqliteSearch({ name }: Pick<SearchIndex, 'name'>): readonly string[] {
  return [
    ...['insert', 'update', 'delete'].map(
      (event) => `drop trigger if exists ${quotedName(`${name}_${event}`)}`,
    ),
    `drop table if exists ${quotedName(name)}`,
    `drop table if exists ${quotedName(keysTable(name))}`,
  ];
}
