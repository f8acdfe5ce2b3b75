import { startServer, type TestServer } from '../graphql/harness.ts';
import { type Aside, printAsides } from './report.ts';

/**
 * What orders by related rows and distinct cost: the statement that the server makes, as a ratio to
 * the one that a person writes for the same JSON. The two take turns in one run, so that a busy
 * machine slows both.
 *
 * node test/bench/lists.ts --rounds 15
 */
const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 15 : Number(process.argv[at + 1]);
const STATEMENTS = 4;
const USERS = 1000;
const POSTS = 10_000;
const COMMENTS = 30_000;
const MOST = 1.25;

const SDL = `
  enum Direction { ASC DESC } enum PostField { AUTHOR }
  input UserOrder { name: Direction team: TeamOrder } input TeamOrder { name: Direction } input Count { count: Direction }
  input PostOrder { author: UserOrder comments: Count views: Direction }
  type Team { id: ID! name: String! users: [User!]! }
  type User { id: ID! name: String! team: Team! posts: [Post!]! }
  type Post { id: ID! title: String! views: Int! author: User! comments: [Comment!]! }
  type Comment { id: ID! post: Post! }
  type Query { posts(orderBy: [PostOrder!], distinct: [PostField!], limit: Int): [Post!]! }
`;

interface Compared {
  readonly what: string;
  readonly args: string;
  /** The rows of the page, by hand. */
  readonly rows: Readonly<Record<'sqlite' | 'postgres', string>>;
}

const both = (text: string) => ({ sqlite: text, postgres: text });

const COMPARED: readonly Compared[] = [
  {
    what: 'order by a field of a related row',
    args: 'orderBy: { author: { name: ASC } }, limit: 50',
    rows: both(
      'select p.id, p.title from posts p left join users u on u.id = p.author_id order by u.name, p.id limit 50',
    ),
  },
  {
    what: 'order over two relations',
    args: 'orderBy: [{ author: { team: { name: DESC } } }, { views: ASC }], limit: 50',
    rows: both(
      'select p.id, p.title from posts p left join users u on u.id = p.author_id left join teams t on t.id = u.team_id order by t.name desc, p.views, p.id limit 50',
    ),
  },
  {
    what: 'order by the number of related rows',
    args: 'orderBy: { comments: { count: DESC } }, limit: 50',
    rows: both(
      'select p.id, p.title from posts p order by (select count(*) from comments c where c.post_id = p.id) desc, p.id limit 50',
    ),
  },
  {
    what: 'distinct',
    args: 'distinct: [AUTHOR], orderBy: { views: DESC }, limit: 50',
    rows: {
      sqlite:
        'select id, title from (select id, title, views, row_number() over (partition by author_id order by views desc, id) as n from posts) where n = 1 order by views desc, id limit 50',
      postgres:
        'select id, title from (select distinct on (author_id) id, title, views from posts order by author_id, views desc, id) p order by views desc, id limit 50',
    },
  },
];

async function fill({ store }: TestServer): Promise<void> {
  const insert = async (table: string, columns: string, rows: readonly (readonly unknown[])[]) => {
    for (let from = 0; from < rows.length; from += 500) {
      const part = rows.slice(from, from + 500);
      const values = part.map(
        (row) => `(${row.map((cell) => JSON.stringify(cell).replaceAll('"', "'")).join(', ')})`,
      );
      await store.query(`insert into ${table} (${columns}) values ${values.join(', ')}`, []);
    }
  };
  const many = <T>(count: number, row: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => row(index));
  // Multiplying by a prime scatters the values without a generator of random numbers.
  await insert(
    'teams',
    'name',
    many(20, (index) => [`team ${(index * 7919) % 20}`]),
  );
  await insert(
    'users',
    'name, team_id',
    many(USERS, (index) => [`user ${(index * 7919) % USERS}`, 1 + (index % 20)]),
  );
  await insert(
    'posts',
    'title, views, author_id',
    many(POSTS, (index) => [
      `title ${index}`,
      (index * 7919) % 5000,
      1 + ((index * 104_729) % USERS),
    ]),
  );
  await insert(
    'comments',
    'post_id',
    many(COMMENTS, (index) => [1 + ((index * 15_485_863) % POSTS)]),
  );
  await store.query('analyze', []);
}

type Run = () => Promise<unknown>;

/** SQLite works in this process, whose CPU time other processes do not change. */
const CLOCKS = {
  sqlite: () => process.cpuUsage().user / 1000,
  postgres: () => performance.now(),
};

/** Milliseconds of one block of statements. */
async function block(run: Run, clock: () => number): Promise<number> {
  const since = clock();
  for (let left = STATEMENTS; left > 0; left -= 1) await run();
  return clock() - since;
}

/** The median of the ratios of neighbouring blocks. */
async function ratio(measured: Run, base: Run, clock: () => number) {
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const before = await block(base, clock);
    const middle = await block(measured, clock);
    const after = await block(base, clock);
    if (round >= 0) ratios.push(middle / ((before + after) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
}

const JSON_OF = {
  sqlite: (rows: string) =>
    `select json_group_array(json_object('id', cast(id as text), 'title', title)) as j from (${rows})`,
  postgres: (rows: string) =>
    `select coalesce(json_agg(json_build_object('id', id::text, 'title', title)), '[]')::text as j from (${rows}) p`,
};

/** The statement of a list and the one by hand, which have to answer the same. */
async function statementsOf(server: TestServer, { args, rows }: Compared) {
  const { store } = server;
  server.statements();
  const { errors } = await server.query(`{ posts(${args}) { id title } }`);
  if (errors) throw new Error(errors[0].message);
  const [text = ''] = server.statements();
  const hand = JSON_OF[store.dialect](rows[store.dialect]);
  const values = [...(store.dialect === 'postgres' ? [10_485_760] : []), 50];
  const own = () => store.query(text, values);
  const byHand = () => store.query(hand, []);
  const answer = async (run: typeof own) =>
    JSON.stringify(JSON.parse(String((await run())[0]?.['j'])));
  if ((await answer(own)) !== (await answer(byHand)))
    throw new Error(`the two statements differ: ${text}\n${hand}`);
  return { own, byHand };
}

export async function lists(): Promise<Aside[]> {
  const seen: Aside[] = [];
  for (const database of process.env['TEST_POSTGRES_URL']
    ? (['sqlite', 'postgres'] as const)
    : (['sqlite'] as const)) {
    const server = await startServer(SDL, { database });
    try {
      await fill(server);
      // All are asked for before anything is measured: an idle connection is closed in between.
      const all = [];
      for (const compared of COMPARED)
        all.push({ compared, ...(await statementsOf(server, compared)) });
      for (const { compared, own, byHand } of all) {
        const value = await ratio(own, byHand, CLOCKS[database]);
        seen.push({
          what: `${compared.what} beside the statement by hand, ${database}`,
          seen: `${value.toFixed(2)} ×`,
          goal: `≤ ${MOST} ×`,
          met: value <= MOST,
        });
      }
    } finally {
      await server.close();
    }
  }
  return seen;
}

if (import.meta.main) printAsides(await lists());
