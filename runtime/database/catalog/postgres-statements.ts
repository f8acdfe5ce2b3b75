/**
 * The statements that read PostgreSQL's catalog (version 12 and later). `$1` is the list of
 * schemas. Types of PostgreSQL's own (`name`, `char`) are cast to text, because the driver knows no
 * arrays of them.
 */
const IN_SCHEMAS = 'n.nspname = any ($1::text[])';

/** The extension that owns the object `oid` of the catalog table `of`. */
const extension = (of: string, oid: string) =>
  `(select e.extname::text from pg_depend d join pg_extension e on e.oid = d.refobjid where d.classid = '${of}'::regclass and d.objid = ${oid} and d.deptype = 'e' limit 1)`;

/**
 * The schemas that exist among the requested ones; without a request, those of the search path. The
 * search path comes first.
 */
export const SCHEMAS = `select nspname::text as name from pg_namespace where nspname = any (coalesce($1::text[], current_schemas(false)::text[])) order by array_position(current_schemas(false)::text[], nspname::text), 1`;

export const ROLE = `select rolname::text as name, rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user`;

export const TABLES = `
  select c.oid::text as id, n.nspname::text as schema, c.relname::text as name, c.relkind::text as kind,
    obj_description(c.oid, 'pg_class') as comment, c.relrowsecurity as secured,
    case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end as definition,
    case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as partition_key,
    case when c.relispartition then pg_get_expr(c.relpartbound, c.oid) end as bound,
    case when c.relispartition then (select json_build_object('schema', pn.nspname, 'name', p.relname)
      from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_namespace pn on pn.oid = p.relnamespace
      where i.inhrelid = c.oid limit 1) end as parent,
    ${extension('pg_class', 'c.oid')} as extension
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where ${IN_SCHEMAS} and c.relkind in ('r', 'p', 'v', 'm', 'f')
  order by n.nspname collate "C", c.relname collate "C"`;

export const COLUMNS = `
  select a.attrelid::text as id, a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
    case when t.typcategory = 'A' and t.typelem <> 0 then 'a' else t.typtype::text end as kind,
    coalesce(et.typname, t.typname)::text as type_name, coalesce(en.nspname, tn.nspname)::text as type_schema,
    not a.attnotnull as nullable, pg_get_expr(d.adbin, d.adrelid) as expression,
    a.attgenerated::text as generated, a.attidentity::text as identity, col_description(a.attrelid, a.attnum) as comment
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_type t on t.oid = a.atttypid
  join pg_namespace tn on tn.oid = t.typnamespace
  left join pg_type et on et.oid = t.typelem and t.typcategory = 'A'
  left join pg_namespace en on en.oid = et.typnamespace
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where ${IN_SCHEMAS} and c.relkind in ('r', 'p', 'v', 'm', 'f') and a.attnum > 0 and not a.attisdropped
  order by a.attrelid, a.attnum`;

const columnNames = (relation: string, numbers: string) =>
  `(select array_agg(a.attname::text order by u.at) from unnest(${numbers}) with ordinality u(num, at) join pg_attribute a on a.attrelid = ${relation} and a.attnum = u.num)`;

export const CONSTRAINTS = `
  select k.conrelid::text as id, k.conname::text as name, k.contype::text as kind,
    ${columnNames('k.conrelid', 'k.conkey')} as columns,
    fn.nspname::text as other_schema, f.relname::text as other_name,
    ${columnNames('k.confrelid', 'k.confkey')} as other_columns,
    k.confdeltype::text as on_delete, k.confupdtype::text as on_update, k.condeferrable as deferrable,
    k.convalidated as validated,
    case when k.contype = 'c' then pg_get_expr(k.conbin, k.conrelid) when k.contype = 'x' then pg_get_constraintdef(k.oid) end as expression
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_class f on f.oid = k.confrelid
  left join pg_namespace fn on fn.oid = f.relnamespace
  where ${IN_SCHEMAS} and k.contype in ('p', 'u', 'f', 'c', 'x')
  order by k.conrelid, k.conname collate "C"`;

export const INDEXES = `
  select i.indrelid::text as id, x.relname::text as name, i.indisunique as unique, i.indisvalid as valid,
    am.amname::text as method, pg_get_indexdef(i.indexrelid) as definition, pg_get_expr(i.indpred, i.indrelid) as condition,
    (select array_agg(a.attname::text order by k.at) from unnest(i.indkey::int2[]) with ordinality k(num, at)
      left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.num and k.num > 0
      where k.at <= i.indnkeyatts) as columns
  from pg_index i
  join pg_class x on x.oid = i.indexrelid
  join pg_am am on am.oid = x.relam
  join pg_class c on c.oid = i.indrelid
  join pg_namespace n on n.oid = c.relnamespace
  where ${IN_SCHEMAS} and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
  order by i.indrelid, x.relname collate "C"`;

export const TRIGGERS = `
  select t.tgrelid::text as id, t.tgname::text as name, pg_get_triggerdef(t.oid) as definition
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where ${IN_SCHEMAS} and not t.tgisinternal
  order by t.tgrelid, t.tgname collate "C"`;

export const POLICIES = `
  select p.polrelid::text as id, p.polname::text as name, p.polcmd::text as command,
    (select coalesce(array_agg(r.rolname::text order by r.rolname), array['public']) from pg_roles r where r.oid = any (p.polroles)) as roles,
    pg_get_expr(p.polqual, p.polrelid) as "using", pg_get_expr(p.polwithcheck, p.polrelid) as "check"
  from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
  where ${IN_SCHEMAS}
  order by p.polrelid, p.polname collate "C"`;

/** Enums of all schemas that a user made: a column may have one of a schema that is not read. */
export const ENUMS = `
  select n.nspname::text as schema, t.typname::text as name, obj_description(t.oid, 'pg_type') as comment,
    (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as values
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where t.typtype = 'e' and (${IN_SCHEMAS} or n.nspname not in ('pg_catalog', 'information_schema'))
  order by n.nspname collate "C", t.typname collate "C"`;

export const DOMAINS = `
  select n.nspname::text as schema, t.typname::text as name, format_type(t.typbasetype, t.typtypmod) as type,
    b.typname::text as type_name, bn.nspname::text as type_schema, not t.typnotnull as nullable, t.typdefault as expression,
    obj_description(t.oid, 'pg_type') as comment,
    (select coalesce(json_agg(json_build_object('name', k.conname, 'expression', pg_get_expr(k.conbin, 0), 'validated', k.convalidated) order by k.conname), '[]'::json)
      from pg_constraint k where k.contypid = t.oid and k.contype = 'c') as checks
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
  join pg_type b on b.oid = t.typbasetype join pg_namespace bn on bn.oid = b.typnamespace
  where t.typtype = 'd' and (${IN_SCHEMAS} or n.nspname not in ('pg_catalog', 'information_schema'))
  order by n.nspname collate "C", t.typname collate "C"`;

export const SEQUENCES = `
  select n.nspname::text as schema, c.relname::text as name,
    (select json_build_object('schema', tn.nspname, 'name', t.relname, 'column', a.attname)
      from pg_depend d join pg_class t on t.oid = d.refobjid join pg_namespace tn on tn.oid = t.relnamespace
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i') limit 1) as owner
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where ${IN_SCHEMAS} and c.relkind = 'S'
  order by n.nspname collate "C", c.relname collate "C"`;

export const FUNCTIONS = `
  select n.nspname::text as schema, p.proname::text as name, p.prokind::text as kind, pg_get_function_arguments(p.oid) as parameters,
    case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) end as definition,
    ${extension('pg_proc', 'p.oid')} as extension
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where ${IN_SCHEMAS}
  order by n.nspname collate "C", p.proname collate "C", pg_get_function_arguments(p.oid) collate "C"`;
