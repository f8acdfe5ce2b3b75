import { startServer, type TestServer } from '../graphql/harness.ts';
import { median } from './measure.ts';
import type { Aside } from './report.ts';

/**
 * Aggregates and groups: the statement that the server makes, as a ratio to the one that is written by hand for the same
 * JSON. The two take turns, so that a busy machine slows both: `node test/bench/more.ts numbers`.
 */
const ROUNDS = 15;
const STATEMENTS = 5;
const ROWS = 100_000;
const AUTHORS = 500;
const MOST = 1.25;

const SDL = `
  scalar DateTime scalar BigInt
  type Author { id: ID! name: String! }
  type Post { id: ID! title: String! views: Int! likes: BigInt! score: Float createdAt: DateTime! author: Author }
  type PostAggregate { count: Int! countDistinct: PostCounts! sum: PostSums! avg: PostAverages! min: PostValues! max: PostValues! }
  type PostCounts { author: Int! }
  type PostSums { views: BigInt likes: BigInt }
  type PostAverages { views: Float score: Float }
  type PostValues { views: Int createdAt: DateTime }
  type PostGroup { key: PostKey! count: Int! sum: PostSums! avg: PostAverages! }
  type PostKey { author: Author createdAt: DateTime }
  enum PostGroupBy { AUTHOR CREATED_AT_MONTH }
  input PostFilter { views: IntFilter }
  input IntFilter { gte: Int }
  input PostGroupFilter { count: IntFilter }
  enum Direction { ASC DESC }
  input PostGroupOrder { sum: PostSumsOrder }
  input PostSumsOrder { views: Direction }
  type Query {
    postsAggregate(where: PostFilter): PostAggregate!
    postsGroups(by: [PostGroupBy!]!, having: PostGroupFilter, orderBy: [PostGroupOrder!], limit: Int): [PostGroup!]!
  }
`;

/** A query, the values of its statement, and the statement by hand on each database. */
interface Case {
  readonly title: string;
  readonly query: string;
  readonly values: readonly unknown[];
  readonly sqlite: string;
  readonly postgres: string;
}

const CASES: readonly Case[] = [
  {
    title: 'an aggregate of all rows',
    query:
      '{ postsAggregate { count sum { views } avg { views score } min { views createdAt } max { views createdAt } } }',
    values: [],
    sqlite: `select json_object('count', count(*), 'sum', json_object('views', cast(sum(views) as text)), 'avg', json_object('views', avg(views), 'score', avg(score)), 'min', json_object('views', min(views), 'createdAt', min(created_at)), 'max', json_object('views', max(views), 'createdAt', max(created_at))) as j from posts`,
    postgres: `select json_build_object('count', count(*), 'sum', json_build_object('views', sum(views)::text), 'avg', json_build_object('views', avg(views)::float8, 'score', avg(score)), 'min', json_build_object('views', min(views), 'createdAt', to_char(min(created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 'max', json_build_object('views', max(views), 'createdAt', to_char(max(created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text as j from posts`,
  },
  {
    title: 'an aggregate of a filter',
    query:
      '{ postsAggregate(where: { views: { gte: 500 } }) { count countDistinct { author } sum { views likes } } }',
    values: [500],
    sqlite: `select json_object('count', count(*), 'countDistinct', json_object('author', count(distinct author_id)), 'sum', json_object('views', cast(sum(views) as text), 'likes', cast(sum(likes) as text))) as j from posts where views >= ?`,
    postgres: `select json_build_object('count', count(*), 'countDistinct', json_build_object('author', count(distinct author_id)), 'sum', json_build_object('views', sum(views)::text, 'likes', sum(likes)::text))::text as j from posts where views >= $1`,
  },
  {
    title: 'groups by an object',
    query:
      '{ postsGroups(by: [AUTHOR], orderBy: [{ sum: { views: DESC } }]) { key { author { name } } count sum { views } avg { views } } }',
    values: [],
    sqlite: `select json_group_array(json_object('key', json_object('author', (select json_object('name', name) from authors where id = g.a)), 'count', g.n, 'sum', json_object('views', cast(g.s as text)), 'avg', json_object('views', g.v))) as j from (select author_id as a, count(*) as n, sum(views) as s, avg(views) as v from posts group by author_id order by s desc nulls first, a nulls last limit 100) g`,
    postgres: `select json_agg(json_build_object('key', json_build_object('author', (select json_build_object('name', name) from authors where id = g.a)), 'count', g.n, 'sum', json_build_object('views', g.s::text), 'avg', json_build_object('views', g.v::float8)))::text as j from (select author_id as a, count(*) as n, sum(views) as s, avg(views) as v from posts group by author_id order by s desc, a limit 100) g`,
  },
  {
    title: 'groups by the month',
    query:
      '{ postsGroups(by: [CREATED_AT_MONTH], having: { count: { gte: 10 } }) { key { createdAt } count sum { likes } } }',
    values: [10],
    sqlite: `select json_group_array(json_object('key', json_object('createdAt', g.m), 'count', g.n, 'sum', json_object('likes', cast(g.s as text)))) as j from (select substr(created_at, 1, 7) || '-01T00:00:00.000Z' as m, count(*) as n, sum(likes) as s from posts group by m having count(*) >= ? order by m limit 100) g`,
    postgres: `select json_agg(json_build_object('key', json_build_object('createdAt', to_char(g.m at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 'count', g.n, 'sum', json_build_object('likes', g.s::text)))::text as j from (select date_trunc('month', created_at, 'UTC') as m, count(*) as n, sum(likes) as s from posts group by m having count(*) >= $1 order by m limit 100) g`,
  },
];

async function fill({ store }: TestServer): Promise<void> {
  await store.transaction(async (trx) => {
    const insert = (table: string, rows: readonly object[]) =>
      trx
        .insertInto(table as never)
        .values(rows as never)
        .execute();
    const authors = Array.from({ length: AUTHORS }, (_, index) => ({ name: `author ${index}` }));
    await insert('authors', authors);
    for (let from = 0; from < ROWS; from += 1000)
      await insert(
        'posts',
        Array.from({ length: 1000 }, (_, each) => rowOf(from + each)),
      );
  });
  if (store.dialect === 'postgres') await store.query('vacuum analyze posts', []);
}

const rowOf = (index: number) => ({
  title: `title number ${index}`,
  views: (index * 7919) % 1000,
  likes: (index * 104_729) % 1_000_000,
  score: index % 7 === 0 ? null : (index % 100) / 4,
  created_at: new Date(Date.UTC(2020, index % 60, 1 + (index % 28))).toISOString(),
  author_id: index % 50 === 0 ? null : 1 + (index % AUTHORS),
});

/** Milliseconds of one block of statements. */
async function block(run: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  for (let left = STATEMENTS; left > 0; left -= 1) await run();
  return performance.now() - since;
}

/** The median of the ratios of neighbouring blocks. */
async function ratioOf(measured: () => Promise<unknown>, base: () => Promise<unknown>) {
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const before = await block(base);
    const middle = await block(measured);
    const after = await block(base);
    if (round >= 0) ratios.push(middle / ((before + after) / 2));
  }
  return median(ratios);
}

async function measure(
  server: TestServer,
  { title, query, values, ...hand }: Case,
): Promise<Aside> {
  const { store } = server;
  server.statements();
  const { data, errors } = await server.query(query);
  const [text = ''] = server.statements();
  const bytes = store.dialect === 'postgres' ? [10_485_760] : [];
  const ours = () => store.query(text, [...bytes, ...values]);
  const own = () => store.query(hand[store.dialect], values);
  const [[answer], [wanted]] = [await ours(), await own()];
  const same = (row: Record<string, unknown> | undefined) =>
    JSON.stringify(JSON.parse(String(row?.['j'])));
  if (errors || same(answer) !== same(wanted) || !data)
    throw new Error(
      `the two statements differ on ${store.dialect}: ${text}\n${hand[store.dialect]}`,
    );
  const found = await ratioOf(ours, own);
  return {
    what: `${title} on ${store.dialect}, times the statement by hand`,
    seen: found.toFixed(3),
    goal: `≤ ${MOST}`,
    met: found <= MOST,
  };
}

/** Each of the cases on each database. */
export async function numbers(): Promise<Aside[]> {
  const asides: Aside[] = [];
  for (const database of process.env['TEST_POSTGRES_URL'] ? ['sqlite', 'postgres'] : ['sqlite']) {
    const server = await startServer(SDL, { database: database as 'sqlite' | 'postgres' });
    try {
      await fill(server);
      for (const each of CASES) asides.push(await measure(server, each));
    } finally {
      await server.close();
    }
  }
  return asides;
}
