import { CLASSES, indexedOf, keyColumn, keyParts, SEARCH_PREFIX } from './search-index.ts';
import type { SearchedTable, SearchIndex } from './search-index.ts';
import { VARIANTS, wordRanges } from './words.ts';
import { quotedName, quotedText } from '../tables/quoting.ts';

/** The name of the text search configuration for a language. It stems words and leaves none out. */
export const configuration = (language: string): string =>
  language === 'simple' ? 'simple' : `${SEARCH_PREFIX}${language}`;

/** A text as its words in small letters without accents, with a space for each other character. */
const WORDS_FUNCTION = `${SEARCH_PREFIX}words`;

/** The function for the text around the words that were found, as HTML. */
export const HIGHLIGHT_FUNCTION = `${SEARCH_PREFIX}highlight`;

/**
 * The statements that make the index on PostgreSQL, still without rows: a table with the words of
 * each row, which a trigger fills. No extension is needed.
 */
export function postgresSearch(index: SearchIndex, table: SearchedTable): readonly string[] {
  return [...shared(index), ...ownTable(index, table), ...trigger(index, table)];
}

/** The GIN index itself. Making it is fastest when the rows are there already. */
export const ginIndex = ({ name }: Pick<SearchIndex, 'name'>, how = ''): string =>
  `create index ${how}${quotedName(`${name}_index`)} on ${quotedName(name)} using gin (document)`;

/** Adds rows that are missing in the index. `most` limits their number. */
export function fillPostgres(index: SearchIndex, table: SearchedTable, most?: number): string {
  const keys = table.key.map((_, at) => keyColumn(at)).join(', ');
  const same = table.key.map((column, at) => `s.${keyColumn(at)} = t.${quotedName(column)}`);
  return `insert into ${quotedName(index.name)} (${keys}, document) select ${keyParts(table, 't.').join(', ')}, ${documentOf(index, 't.')} from ${quotedName(index.table)} t where not exists (select from ${quotedName(index.name)} s where ${same.join(' and ')})${most === undefined ? '' : ` limit ${most}`} on conflict do nothing`;
}

/** The functions that all indexes use, and the configuration of the language. */
function shared({ language }: SearchIndex): string[] {
  return [
    wordsFunction(),
    HIGHLIGHT,
    ...(language === 'simple' ? [] : [configurationOf(language)]),
  ];
}

/**
 * The statement for a configuration. PostgreSQL's own ones leave out words such as "the", so a
 * search for them would find other rows than on SQLite. `porter` is the stemmer that FTS5 has.
 */
function configurationOf(language: string): string {
  const name = quotedName(configuration(language));
  const stemmer = language === 'english' ? 'porter' : language;
  return `do $$ begin
  if not exists (select from pg_ts_config where cfgname = ${quotedText(configuration(language))} and cfgnamespace = current_schema()::regnamespace) then
    create text search dictionary ${name} (template = snowball, language = ${stemmer});
    create text search configuration ${name} (copy = pg_catalog.simple);
    alter text search configuration ${name} alter mapping for asciiword, word, asciihword, hword, hword_asciipart, hword_part with ${name};
  end if;
end $$`;
}

/**
 * The statement for the function that splits texts into words. lower() follows the collation, and
 * the database's own may know ASCII only, so the first of these collations that exists is used.
 */
function wordsFunction(): string {
  const ranges = wordRanges();
  const from = VARIANTS.map(([each]) => each).join('');
  const to = VARIANTS.map(([, each]) => each).join('');
  const body = (collation: string) => `select case
    when octet_length(value) = length(value) then regexp_replace(lower(value collate ${collation}), '[^a-z0-9]', ' ', 'g')
    else regexp_replace(translate(lower(translate(normalize(regexp_replace(normalize(value, NFD), '[\\u0300-\\u036f]+', '', 'g'), NFC), 'İ${from}', 'I${to}') collate ${collation}), 'ς', 'σ'), '[^${ranges}]', ' ', 'g')
  end`;
  const made = (collation: string) =>
    `create or replace function ${WORDS_FUNCTION}(value text) returns text language sql immutable parallel safe strict as $words$ ${body(collation)} $words$`;
  return `do $do$ begin
  if exists (select from pg_collation where collname = 'pg_c_utf8') then ${made('"pg_c_utf8"')};
  elsif exists (select from pg_collation where collname = 'und-x-icu') then ${made('"und-x-icu"')};
  else ${made('"default"')};
  end if;
end $do$`;
}

const ESCAPED = `replace(replace(replace(replace(replace(piece, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;')`;

/**
 * Shows at most 300 characters around the first word that was found. `ts_headline` gets only the
 * words, each at its position in the text, so that nothing in the text can look like a mark.
 */
const HIGHLIGHT = `create or replace function ${HIGHLIGHT_FUNCTION}(configuration regconfig, value text, query tsquery) returns text language plpgsql immutable parallel safe as $highlight$
declare
  shown text := left(value, 200000);
  words text;
  marked text;
  hit int;
  first int;
  last int;
  answer text;
begin
  if value is null then return null; end if;
  if octet_length(shown) <> length(shown) then
    shown := normalize(shown, NFC);
    words := ${WORDS_FUNCTION}(shown);
    if length(words) <> length(shown) then
      shown := regexp_replace(shown, '[\\u0300-\\u036f]+', '', 'g');
      words := ${WORDS_FUNCTION}(shown);
    end if;
  else words := ${WORDS_FUNCTION}(shown);
  end if;
  marked := case when query is null or numnode(query) = 0 or length(words) <> length(shown) then words
    else ts_headline(configuration, words, query, 'HighlightAll=true, StartSel=<, StopSel=>') end;
  hit := greatest(strpos(marked, '<'), 1);
  first := greatest(hit - 60, 1);
  if first > 1 and strpos(substr(words, first, hit - first), ' ') > 0 then
    first := first + strpos(substr(words, first, hit - first), ' ');
  end if;
  last := least(first + 297, length(shown));
  if last < length(shown) and substr(words, last + 1, 1) <> ' ' and strpos(substr(words, hit, last - hit + 1), ' ') > 0 then
    last := last - strpos(reverse(substr(words, hit, last - hit + 1)), ' ');
  end if;
  select string_agg(case when is_hit then '<mark>' || ${ESCAPED} || '</mark>' else ${ESCAPED} end, '' order by number) into answer
  from (
    select number, is_hit, substr(shown, first + start::int, least(size, last - first + 1 - start)::int) as piece
    from (
      select number, part like '<%' as is_hit, length(translate(part, '<>', '')) as size,
        sum(length(translate(part, '<>', ''))) over (order by number) - length(translate(part, '<>', '')) as start
      from regexp_matches(substr(marked, first, 1000), '<[^<>]*|[^<>]+|>', 'g') with ordinality parts(matched, number),
        lateral (select matched[1] as part) named
    ) measured where start < last - first + 1
  ) pieces where piece <> '';
  return case when first > 1 then '…' else '' end || coalesce(answer, '') || case when last < length(shown) or shown <> value and length(value) > 200000 then '…' else '' end;
end $highlight$`;

function ownTable(index: SearchIndex, { key }: SearchedTable): string[] {
  const name = quotedName(index.name);
  const keys = key.map((column, at) => `${quotedName(column)} as ${keyColumn(at)}`).join(', ');
  const names = key.map((_, at) => keyColumn(at)).join(', ');
  return [
    `create table ${name} as select ${keys}, null::tsvector as document from ${quotedName(index.table)} with no data`,
    `alter table ${name} add primary key (${names})`,
  ];
}

/**
 * The trigger's statement names the columns and the language, so that a comparison of definitions
 * notices a change.
 */
function trigger(index: SearchIndex, table: SearchedTable): string[] {
  const { name, columns, language } = index;
  const keys = table.key.map((_, at) => keyColumn(at)).join(', ');
  const own = quotedName(name);
  const same = (row: string) =>
    keyParts(table, row)
      .map((part, at) => `${keyColumn(at)} = ${part}`)
      .join(' and ');
  const moved = keyParts(table, 'old.')
    .map((part, at) => `${part} is distinct from ${keyParts(table, 'new.')[at]}`)
    .join(' or ');
  const changed = [...new Set([...table.key, ...columns])].map(quotedName).join(', ');
  const said = [language, ...columns].map(quotedText).join(', ');
  const run = `execute function ${own}(${said})`;
  return [
    `create or replace function ${own}() returns trigger language plpgsql security definer set search_path from current as $search$
begin
  if tg_op = 'TRUNCATE' then
    truncate ${own};
    return null;
  end if;
  if tg_op = 'DELETE' then
    delete from ${own} where ${same('old.')};
    return null;
  end if;
  if tg_op = 'UPDATE' and (${moved}) then
    delete from ${own} where ${same('old.')};
  end if;
  insert into ${own} (${keys}, document) values (${keyParts(table, 'new.').join(', ')}, ${documentOf(index, 'new.')})
  on conflict (${keys}) do update set document = excluded.document;
  return null;
end $search$`,
    `create trigger ${own} after insert or delete or update of ${changed} on ${quotedName(index.table)} for each row ${run}`,
    `create trigger ${quotedName(`${name}_all`)} after truncate on ${quotedName(index.table)} for each statement ${run}`,
  ];
}

/** The words of a row, each with the weight (A to D) of its field. */
function documentOf(index: SearchIndex, row: 'new.' | 't.'): string {
  const configured = quotedText(configuration(index.language));
  return index.columns
    .map((column, at) => {
      const given = `left(${row}${quotedName(column)}::text, ${indexedOf(index)})`;
      return `setweight(to_tsvector(${configured}, coalesce(${WORDS_FUNCTION}(${given}), '')), '${classOf(at)}')`;
    })
    .join(' || ');
}

/** The weight of a field: `A` for the first one. */
export const classOf = (at: number): string => 'ABCD'.charAt(Math.min(at, CLASSES - 1));

/** The statements that drop the index. Those of the last index drop the functions too. */
export function dropPostgresSearch({
  name,
  table,
}: Pick<SearchIndex, 'name' | 'table'>): readonly string[] {
  return [
    `drop trigger if exists ${quotedName(name)} on ${quotedName(table)}`,
    `drop trigger if exists ${quotedName(`${name}_all`)} on ${quotedName(table)}`,
    `drop function if exists ${quotedName(name)}()`,
    `drop table if exists ${quotedName(name)}`,
    `do $$ begin
  if not exists (select from pg_trigger g join pg_class c on c.oid = g.tgrelid where c.relnamespace = current_schema()::regnamespace and g.tgname like 'twofold\\_search\\_%') then
    drop function if exists ${HIGHLIGHT_FUNCTION}(regconfig, text, tsquery);
    drop function if exists ${WORDS_FUNCTION}(text);
  end if;
end $$`,
  ];
}
