import { isOwnTable, type Table } from '@twofold/schema';
import { AppError } from '../../errors.ts';
import type { Store } from '../store.ts';

/** The sequence of an identity column needs no right of its own. */
const LACKING = `
  with objects as (
    select c.oid, c.relname::text as name, c.relkind, coalesce((
        select t.relname::text from pg_depend d join pg_class t on t.oid = d.refobjid
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'a' limit 1
      ), c.relname::text) as of_table
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
    where c.relkind in ('r', 'p', 'S')
      and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')
  )
  select of_table, format('grant %s on %s %I.%I to %I',
      string_agg(wanted, ', ' order by place),
      case relkind when 'S' then 'sequence' else 'table' end, $1::text, name, current_user) as "grant"
  from objects, unnest(case relkind when 'S' then array['usage']
    else array['select', 'insert', 'update', 'delete'] end) with ordinality as rights (wanted, place)
  where not case relkind when 'S' then has_sequence_privilege(oid, wanted)
    else has_table_privilege(oid, wanted) end
  group by of_table, name, relkind
  union all
  select null, format('grant usage on schema %I to %I', $1::text, current_user)
  where not has_schema_privilege($1, 'usage')`;

/**
 * Checks that the role of a server may read and write the rows of its tables.
 *
 * @throws AppError `DATABASE_RIGHTS_MISSING` with all that lacks.
 */
export async function assertRights(store: Store, tables: readonly Table[]): Promise<void> {
  if (store.dialect !== 'postgres') return;
  const [place] = await store.query(
    `select current_user::text as role, coalesce(current_schema()::text, trim(both '"' from split_part(replace(current_setting('search_path'), '"$user", ', ''), ',', 1))) as schema`,
    [],
  );
  const ours = new Set(tables.map(({ name }) => name));
  const rows = await store.query(LACKING, [place!['schema']]);
  const missing = rows
    .filter(({ of_table: name }) => name === null || ours.has(`${name}`) || isOwnTable(`${name}`))
    .map((row) => String(row['grant']));
  if (missing.length === 0) return;
  throw new AppError(
    500,
    'DATABASE_RIGHTS_MISSING',
    `the role ${String(place!['role'])} lacks rights:\n${missing.map((grant) => `    ${grant};`).join('\n')}`,
    { extensions: { role: place!['role'], missing } },
  );
}
