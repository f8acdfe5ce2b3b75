import { accentedBlocks, accentedLetters, newSigns } from './words.ts';
import {
  CLASSES,
  indexedOf,
  keyColumn,
  keyParts,
  type SearchedTable,
  type SearchIndex,
} from './search-index.ts';
import { quotedName, quotedText } from '../tables/quoting.ts';

/**
 * The name of a table that gives each row a number. It is needed when the table's key is not a
 * number.
 */
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
 * The triggers. REPLACE deletes a row without calling a trigger, so an insert deletes from the
 * index too. Entries that such a statement leaves behind belong to no row and are never found.
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
 * The SQL of a column's text for the index. FTS5 removes accents from Latin letters only, so Greek
 * and Cyrillic letters are replaced before, in texts that have any.
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
