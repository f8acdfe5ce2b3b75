import type { Catalog, CatalogColumn, CatalogForeignKey, CatalogTable } from '@twofold/database';

/** Tables of the server itself. Its modules create them with migrations of their own. */
const OF_THE_SERVER = /^(twofold|auth|hosting)_/;

/**
 * The statements that make the same structure in an empty database: tables and their parts first,
 * then views, functions and triggers. Rows, roles and policies are left out.
 *
 * @example baselineStatements(catalog)[0] // 'create table "Artist" (…)'
 */
export function baselineStatements(catalog: Catalog): readonly string[] {
  const tables = catalog.tables.filter(
    ({ extension, name }) => extension === null && !OF_THE_SERVER.test(name),
  );
  return catalog.dialect === 'sqlite' ? ofSqlite(tables) : ofPostgres({ ...catalog, tables });
}

/** The statements of a SQLite database, which keeps their texts. */
function ofSqlite(tables: readonly CatalogTable[]): string[] {
  const texts = (kind: CatalogTable['kind']) =>
    tables.flatMap((table) => (table.kind === kind && table.definition ? [table.definition] : []));
  return [
    ...texts('table'),
    ...texts('virtual table'),
    ...tables.flatMap(({ indexes }) => indexes.map(({ definition }) => definition)),
    ...texts('view'),
    ...tables.flatMap(({ triggers }) => triggers.map(({ definition }) => definition)),
  ].filter((text) => text !== '');
}

const name = (text: string) => `"${text.replaceAll('"', '""')}"`;
const names = (texts: readonly string[]) => texts.map(name).join(', ');
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Removes the name of the connection's schema, so that the search path decides. */
const unplaced = (text: string) =>
  text.replace(/(?<=\b(?:ON|FUNCTION|PROCEDURE|TABLE|ONLY) )public\./gi, '');

function ofPostgres(catalog: Catalog): string[] {
  const { tables } = catalog;
  const isHere = ({ schema }: { readonly schema: string }) => catalog.schemas.includes(schema);
  const kept = tables.filter(({ kind }) => kind === 'table');
  // Partitions come after their table, and have its constraints and indexes.
  const whole = kept.filter(({ partitionOf }) => !partitionOf);
  const counted = new Set(
    kept.flatMap((table) =>
      table.columns.flatMap((column) =>
        column.identity === null ? [] : [`${table.name}.${column.name}`],
      ),
    ),
  );
  const sequences = catalog.sequences.filter(
    ({ ownedBy, name: sequence }) =>
      !OF_THE_SERVER.test(sequence) &&
      !(ownedBy && counted.has(`${ownedBy.name}.${ownedBy.column}`)),
  );
  return [
    ...catalog.enums
      .filter(isHere)
      .map(
        (each) => `create type ${name(each.name)} as enum (${each.values.map(quoted).join(', ')})`,
      ),
    ...catalog.domains.filter(isHere).map(domainSql),
    ...sequences.map((each) => `create sequence ${name(each.name)}`),
    ...whole.map(tableSql),
    ...kept.filter(({ partitionOf }) => partitionOf).map(partitionSql),
    ...sequences.flatMap(({ ownedBy, name: sequence }) =>
      ownedBy
        ? [
            `alter sequence ${name(sequence)} owned by ${name(ownedBy.name)}.${name(ownedBy.column)}`,
          ]
        : [],
    ),
    ...whole.flatMap((table) => table.foreignKeys.map((key) => foreignKeySql(table, key))),
    ...functionsSql(catalog),
    ...tables.filter(isView).map(viewSql),
    ...[...whole, ...tables.filter(isView)].flatMap(({ indexes }) =>
      indexes.map(({ definition }) => unplaced(definition)),
    ),
    ...tables.flatMap(({ triggers }) => triggers.map(({ definition }) => unplaced(definition))),
    ...whole.flatMap(commentsSql),
  ];
}

const isView = ({ kind }: CatalogTable) => kind === 'view' || kind === 'materialized view';

function domainSql({
  name: domain,
  type,
  nullable,
  default: value,
  checks,
}: Catalog['domains'][number]): string {
  return [
    `create domain ${name(domain)} as ${type}`,
    ...(value === null ? [] : [`default ${value}`]),
    ...(nullable ? [] : ['not null']),
    ...checks.map((each) => `${constraint(each.name)}check (${each.expression})`),
  ].join(' ');
}

const constraint = (text: string | null) => (text === null ? '' : `constraint ${name(text)} `);

function tableSql(table: CatalogTable): string {
  const parts = [
    ...table.columns.map(columnSql),
    ...(table.primaryKey
      ? [`${constraint(table.primaryKey.name)}primary key (${names(table.primaryKey.columns)})`]
      : []),
    ...table.uniques.map((each) => `${constraint(each.name)}unique (${names(each.columns)})`),
    ...table.checks.map((each) => `${constraint(each.name)}check (${each.expression})`),
    ...table.exclusions.map((each) => `${constraint(each.name)}${each.expression}`),
  ];
  const partitioned = table.partitionKey === null ? '' : ` partition by ${table.partitionKey}`;
  return `create table ${name(table.name)} (\n  ${parts.join(',\n  ')}\n)${partitioned}`;
}

function columnSql({
  name: column,
  type,
  nullable,
  default: value,
  generated,
  identity,
}: CatalogColumn): string {
  return [
    name(column),
    type,
    ...(nullable ? [] : ['not null']),
    ...(value === null ? [] : [`default ${value}`]),
    ...(generated === null ? [] : [`generated always as (${generated}) stored`]),
    ...(identity === null ? [] : [`generated ${identity} as identity`]),
  ].join(' ');
}

function partitionSql(table: CatalogTable): string {
  const key = table.partitionKey === null ? '' : ` partition by ${table.partitionKey}`;
  return `create table ${name(table.name)} partition of ${name(table.partitionOf!.name)} ${table.bound}${key}`;
}

function foreignKeySql(table: CatalogTable, key: CatalogForeignKey): string {
  return [
    `alter table ${name(table.name)} add ${constraint(key.name)}foreign key (${names(key.columns)})`,
    `references ${name(key.table.name)} (${names(key.references)})`,
    ...(key.onDelete === 'no action' ? [] : [`on delete ${key.onDelete}`]),
    ...(key.onUpdate === 'no action' ? [] : [`on update ${key.onUpdate}`]),
    ...(key.deferrable ? ['deferrable'] : []),
    ...(key.validated ? [] : ['not valid']),
  ].join(' ');
}

/** The bodies of functions may refer to functions after them. */
function functionsSql({ functions }: Catalog): string[] {
  const own = functions.flatMap(({ extension, definition, name: called }) =>
    extension === null && definition !== null && !OF_THE_SERVER.test(called)
      ? [unplaced(definition.trimEnd())]
      : [],
  );
  return own.length === 0 ? [] : ['set local check_function_bodies = off', ...own];
}

const viewSql = ({ name: view, kind, definition }: CatalogTable) =>
  `create ${kind} ${name(view)} as\n${definition!.replace(/;\s*$/, '')}`;

function commentsSql({ name: table, comment, columns }: CatalogTable): string[] {
  return [
    ...(comment === null ? [] : [`comment on table ${name(table)} is ${quoted(comment)}`]),
    ...columns.flatMap((column) =>
      column.comment === null
        ? []
        : [`comment on column ${name(table)}.${name(column.name)} is ${quoted(column.comment)}`],
    ),
  ];
}
