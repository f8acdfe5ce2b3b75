/** What the servers of this comparison are asked, each in its own words, for the same rows. */
export const ROWS = 20_000;

export type ServerName = 'twofold' | 'hand' | 'postgraphile';

export interface Compared {
  readonly name: string;
  readonly title: string;
  readonly twofold: string;
  readonly postgraphile: string;
  readonly hand: { readonly sql: string; readonly values: readonly unknown[] };
  /** The rows or figures in an answer of each, in one form. */
  readonly found: (data: any) => unknown;
}

/** A word in about one of eleven posts, and a user who edits one of ten projects. */
export const CALLER = 1;
const WORDS = 'w10 w40';

const titles = (rows: readonly any[]) =>
  rows.map(({ id, rowId, title }) => [Number(rowId ?? id), title]);

export const COMPARED: readonly Compared[] = [
  {
    name: 'search',
    title: 'the best 20 of a search for two words',
    twofold: `{ posts(search: "${WORDS}", limit: 20) { id title } }`,
    postgraphile: `{ findPosts(search: "${WORDS}", first: 20) { nodes { rowId title } } }`,
    hand: {
      sql: `select coalesce(json_agg(json_build_object('id', id::text, 'title', title)), '[]')::text as j from (
        select p.id, p.title from twofold_search_posts s join posts p on p.id = s.k0
        where s.document @@ plainto_tsquery('twofold_search_english', $1)
        order by ts_rank(s.document, plainto_tsquery('twofold_search_english', $1)) desc, p.id limit 20) q`,
      values: [WORDS],
    },
    // Each has a rank of its own, so which twenty are the best is not the same.
    found: (data) => titles(data.findPosts?.nodes ?? data.posts ?? data).length,
  },
  {
    name: 'aggregate',
    title: `an aggregate of one of five of ${ROWS} rows`,
    twofold:
      '{ postsAggregate(where: { kind: "kind 2" }) { count sum { views } avg { views } min { views } max { views } } }',
    postgraphile:
      '{ allPosts(condition: { kind: "kind 2" }) { totalCount aggregates { sum { views } average { views } min { views } max { views } } } }',
    hand: {
      sql: `select json_build_object('count', count(*), 'sum', json_build_object('views', sum(views)::text), 'avg', json_build_object('views', avg(views)::float8), 'min', json_build_object('views', min(views)), 'max', json_build_object('views', max(views)))::text as j from posts where kind = $1`,
      values: ['kind 2'],
    },
    found: (data) => {
      const { totalCount, aggregates } = data.allPosts ?? {};
      const all =
        data.postsAggregate ?? (aggregates && { ...aggregates, count: totalCount }) ?? data;
      const { count, sum, min, max } = all;
      const average = Number((all.avg ?? all.average).views).toFixed(6);
      return [count, Number(sum.views), average, min.views, max.views];
    },
  },
  {
    name: 'rule',
    title: '50 of the tasks of projects that the caller edits',
    twofold: '{ tasks(limit: 50) { id title } }',
    postgraphile: '{ allTasks(first: 50) { nodes { rowId title } } }',
    hand: {
      sql: `select coalesce(json_agg(json_build_object('id', id::text, 'title', title)), '[]')::text as j from (
        select id, title from tasks where project_id in (select project_id from members where user_id = $1 and role = 'EDITOR') order by id limit 50) q`,
      values: [CALLER],
    },
    found: (data) => titles(data.allTasks?.nodes ?? data.tasks ?? data),
  },
];
