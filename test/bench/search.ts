import { startServer, type TestServer } from '../graphql/harness.ts';

/**
 * What a search costs: the statement that the server makes for the best twenty rows, as a ratio to
 * one that is written by hand over the same index, with the rank that the database has: bm25 of
 * FTS5, ts_rank of PostgreSQL. The two take turns in one run, so that a busy machine slows both.
 *
 * node test/bench/search.ts [--rounds 15] [--rows 20000]
 */
const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const ROUNDS = option('rounds', 15);
const ROWS = option('rows', 20_000);
const STATEMENTS = 5;
const MOST = 1.25;

const SDL = `
  type Post @search(fields: ["title", "body"], language: "english") { id: ID! title: String! body: String! }
  type Query { posts(search: String, limit: Int): [Post!]! }
`;

/** A word of rank n is in about one of n texts. */
const WORDS = Array.from({ length: 2000 }, (_, index) => `w${(index * 7919 + 13).toString(36)}`);
let seed = 1;
const random = () => ((seed = (seed * 48271) % 2147483647), seed / 2147483647);
const word = () => WORDS[Math.floor(WORDS.length ** random()) - 1] ?? WORDS[0]!;
const text = (words: number) => Array.from({ length: words }, word).join(' ');

/** Searches by how many rows they find. */
const SEARCHES = [
  ['a rare word', WORDS[1500]!],
  ['a frequent word', WORDS[10]!],
  ['two words', `${WORDS[10]!} ${WORDS[40]!}`],
  ['a rare and a frequent word', `${WORDS[1500]!} ${WORDS[3]!}`],
] as const;

async function fill({ store }: TestServer): Promise<void> {
  for (let from = 0; from < ROWS; from += 500)
    await store.db
      .insertInto('posts')
      .values(Array.from({ length: 500 }, () => ({ title: text(5), body: text(80) })))
      .execute();
  if (store.dialect === 'postgres')
    for (const table of ['posts', 'twofold_search_posts'])
      await store.query(`analyze ${table}`, []);
}

/** What one would write for the best rows of these words. */
function byHand(dialect: string, search: string): readonly [sql: string, values: unknown[]] {
  const words = search.split(' ');
  if (dialect === 'sqlite')
    return [
      `select coalesce(json_group_array(json_object('id', cast(id as text), 'title', title)), '[]') as j from (
         select p.id, p.title from twofold_search_posts f join posts p on p.id = f.rowid
         where f.twofold_search_posts match ? order by bm25(f.twofold_search_posts, 8, 4), p.id limit ?)`,
      [words.map((each) => `"${each}"`).join(' '), 20],
    ];
  return [
    `select coalesce(json_agg(json_build_object('id', id::text, 'title', title)), '[]')::text as j from (
       select p.id, p.title from twofold_search_posts s join posts p on p.id = s.k0
       where s.document @@ to_tsquery('twofold_search_english', $1)
       order by ts_rank(s.document, to_tsquery('twofold_search_english', $1)) desc, p.id limit $2) q`,
    [words.join(' & '), 20],
  ];
}

/** Milliseconds of one block of statements. */
async function block(run: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  for (let left = STATEMENTS; left > 0; left -= 1) await run();
  return performance.now() - since;
}

/** The median of the ratios of neighbouring blocks, and the time of one statement by hand. */
async function ratio(measured: () => Promise<unknown>, base: () => Promise<unknown>) {
  const ratios: number[] = [];
  const times: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const before = await block(base);
    const middle = await block(measured);
    const after = await block(base);
    if (round < 0) continue;
    ratios.push(middle / ((before + after) / 2));
    times.push((before + after) / 2 / STATEMENTS);
  }
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
  return { ratio: median(ratios), time: median(times) };
}

/** The values of the server's own statement, taken from where it hands them to the database. */
async function statementOf(server: TestServer, search: string) {
  const { store } = server;
  let taken: readonly [string, readonly unknown[]] | undefined;
  const take = (sql: string, parameters: readonly unknown[]) => (taken = [sql, parameters]);
  const { answer } = store;
  (store as { answer: typeof answer }).answer = (statement, parameters, bounds) => (
    take(statement.text, parameters),
    answer(statement, parameters, bounds)
  );
  const { data } = await server.query(
    'query ($search: String) { posts(search: $search, limit: 20) { id title } }',
    { search },
  );
  (store as { answer: typeof answer }).answer = answer;
  if (!taken) throw new Error('the server made no statement');
  return { rows: data.posts.length as number, run: () => store.query(taken![0], [...taken![1]]) };
}

for (const database of process.env['TEST_POSTGRES_URL'] ? ['sqlite', 'postgres'] : ['sqlite']) {
  const server = await startServer(SDL, {
    database: database as 'sqlite' | 'postgres',
    manifest: 'name: bench\napi: { access: public }\n',
  });
  try {
    await fill(server);
    // All are asked for before anything is measured: an idle connection is closed in between.
    const all = [];
    for (const [what, search] of SEARCHES)
      all.push({ what, search, own: await statementOf(server, search) });
    for (const { what, search, own } of all) {
      const [sql, values] = byHand(database, search);
      const { ratio: times, time } = await ratio(own.run, () => server.store.query(sql, values));
      console.log(
        `${times.toFixed(3)}  (at most ${MOST})  ${database}: ${what} among ${ROWS} / by hand (${time.toFixed(1)} ms)`,
      );
    }
  } finally {
    await server.close();
  }
}
