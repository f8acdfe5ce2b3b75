import { dialectOf } from '@twofold/runtime/kernel';
import { type Kysely, sql } from 'kysely';

/**
 * Stores hits as pairs of a time and a count, so that a lease takes one pair. On SQLite the pairs
 * are JSON. On PostgreSQL the table is unlogged, because it is written often and a crash loses only
 * the hits of some minutes.
 */
export async function createWindows(db: Kysely<any>): Promise<void> {
  const postgres = dialectOf(db) === 'postgres';
  const table = postgres
    ? 'create unlogged table auth_limit_windows (key text primary key, times bigint[] not null, counts integer[] not null, expires_at bigint not null)'
    : 'create table auth_limit_windows (key text primary key, hits text not null, expires_at bigint not null)';
  await sql.raw(table).execute(db);
  await db.schema
    .createIndex('auth_limit_windows_expiry')
    .on('auth_limit_windows')
    .column('expires_at')
    .execute();
  if (postgres) await sql.raw(CHARGE_FUNCTION).execute(db);
}

/**
 * `StoredWindows.exchange` as one statement. The insert locks the rows in the order of the keys, so
 * that two requests with the same limits cannot deadlock. No hit counts as later than `latest`, so
 * after the clock was set back a window is correct again within its length. `expires_at` is rounded
 * up to the hour, so that its index is seldom written.
 */
const CHARGE_FUNCTION = `create function auth_charge(keys text[], caps integer[], spans bigint[], takes integer[], ats bigint[], wants integer[], untils bigint[],
    change_keys text[], change_times bigint[], change_counts integer[], moment bigint, latest bigint)
  returns table (accepted boolean, used integer, oldest bigint, leased integer) language plpgsql as $body$
begin
  insert into auth_limit_windows as w (key, times, counts, expires_at)
    select a.k, '{}', '{}', ((latest + a.span) / 3600000 + 1) * 3600000 from unnest(keys, spans) as a(k, span) order by a.k
    on conflict (key) do update set expires_at = greatest(w.expires_at, excluded.expires_at);
  return query
    with kept as (
      select a.*, live.times, live.counts, live.total
        from unnest(keys, caps, spans, takes, ats, wants, untils) with ordinality as a(k, cap, span, take, at, want, until, n)
        join auth_limit_windows w on w.key = a.k
        cross join lateral (
          select coalesce(array_agg(pair.t order by pair.t), '{}') as times, coalesce(array_agg(pair.c order by pair.t), '{}') as counts,
              coalesce(sum(pair.c), 0)::integer as total
            from (
              select least(hit.t, latest) as t, sum(hit.c)::integer as c
                from (select * from unnest(w.times, w.counts)
                  union all select change.t, change.c from unnest(change_keys, change_times, change_counts) as change(k, t, c) where change.k = a.k) as hit(t, c)
                where hit.t > moment - a.span group by 1 having sum(hit.c) > 0) as pair) as live),
    verdict as (select bool_and(kept.total < kept.cap) as fits from kept),
    granted as (
      select kept.*, case when verdict.fits then kept.take else 0 end as taken,
          greatest(0, least(kept.want, kept.cap / 2 - kept.total - kept.take)) as lease
        from kept, verdict),
    written as (
      update auth_limit_windows w
        set times = g.times || case when g.taken > 0 then array[g.at] else '{}' end || case when g.lease > 0 then array[g.until] else '{}' end,
          counts = g.counts || case when g.taken > 0 then array[g.taken] else '{}' end || case when g.lease > 0 then array[g.lease] else '{}' end
        from granted g where w.key = g.k)
    select g.total < g.cap, g.total + g.taken, coalesce(g.times[1], case when g.taken > 0 then g.at end), g.lease
      from granted g order by g.n;
end $body$`;
