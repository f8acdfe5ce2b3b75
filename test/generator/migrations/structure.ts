import { type Kysely, sql } from 'kysely';
import { columnOf, splitDefinition } from '../../../runtime/database/tables/table-definition.ts';
import type { Store } from '../../../runtime/core/store/store.ts';

/** What a database says of one table, with names of constraints and the order of columns left out. */
export interface Structure {
  readonly [table: string]: readonly string[];
}

export async function readStructure({ db, dialect }: Store): Promise<Structure> {
  return dialect === 'sqlite' ? readSqlite(db) : readPostgres(db);
}

async function readSqlite(db: Kysely<any>): Promise<Structure> {
  const { rows } = await sql<{
    name: string;
    sql: string;
  }>`select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'twofold_%'`.execute(
    db,
  );
  const { rows: indexes } = await sql<{
    tbl: string;
    name: string;
    unique: number;
    columns: string;
  }>`
    select m.tbl_name as tbl, l.name, l."unique", (select group_concat(name, ',') from pragma_index_info(l.name)) as columns
    from sqlite_master m join pragma_index_list(m.name) l on l.origin = 'c' where m.type = 'table'`.execute(
    db,
  );
  return Object.fromEntries(
    rows.map(({ name, sql: text }) => {
      const { columns, constraints } = splitDefinition(text);
      const own = indexes
        .filter((index) => index.tbl === name)
        .map((index) => `${index.unique ? 'unique ' : ''}index ${index.name} ${index.columns}`);
      const parts = columns.map((column) => `${columnOf(column)}: ${normalize(column)}`);
      return [
        name,
        [
          ...parts,
          ...constraints.map(normalize).map((each) => each.replace(/constraint \w+ /, '')),
          ...own,
        ].sort(),
      ];
    }),
  );
}

/** Order of the parts of a definition does not count; what a rename quoted anew is the same. */
function normalize(definition: string): string {
  return definition
    .toLowerCase()
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .split(/ (?=not null|unique|default|check|references)/)
    .sort()
    .join(' ');
}

async function readPostgres(db: Kysely<any>): Promise<Structure> {
  const { rows: columns } = await sql<{ table: string; text: string }>`
    select c.relname as table, a.attname || ': ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') || case when a.attidentity <> '' then ' identity' else '' end as text
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped and c.relname not like 'twofold_%'`.execute(
    db,
  );
  const { rows: constraints } = await sql<{ table: string; text: string }>`
    select conrelid::regclass::text as table, pg_get_constraintdef(oid) as text from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'c', 'f') and conrelid::regclass::text not like 'twofold_%'`.execute(
    db,
  );
  const { rows: indexes } = await sql<{ table: string; text: string }>`
    select tablename as table, indexdef as text from pg_indexes i where schemaname = 'public' and tablename not like 'twofold_%'
      and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`.execute(db);
  const structure: Record<string, string[]> = {};
  for (const { table, text } of [...columns, ...constraints, ...indexes])
    (structure[table.replaceAll('"', '')] ??= []).push(text);
  return Object.fromEntries(
    Object.entries(structure).map(([table, parts]) => [table, parts.sort()]),
  );
}
