import type pg from 'pg';
import { createDatabase, type TestDatabase } from '../../engines/available.ts';
import { startServer } from '../../graphql/harness.ts';
import { ROWS } from './workloads.ts';

/**
 * What all servers of this comparison serve: one database with one set of indexes. The tables are
 * this server's; what PostGraphile needs beside them (a role, a policy and a function) is made as its
 * documentation says.
 */
export const SDL = `
  scalar BigInt
  type User { id: ID! email: String! }
  type Project @auth(allow: [PUBLIC]) { id: ID! name: String! members: [Member!]! }
  type Member @auth(allow: [PUBLIC]) { id: ID! project: Project! user: User! role: String! }
  type Task @auth(allow: [USER], where: { project: { members: { some: { user: CALLER, role: "EDITOR" } } } }) {
    id: ID! title: String! project: Project!
  }
  type Post @auth(allow: [PUBLIC]) @search(fields: ["title", "body"], language: "english") @index(fields: ["kind"]) {
    id: ID! title: String! body: String! kind: String! views: Int!
  }
  type PostAggregate { count: Int! sum: PostSums! avg: PostAverages! min: PostValues! max: PostValues! }
  type PostSums { views: BigInt } type PostAverages { views: Float } type PostValues { views: Int }
  input PostFilter { kind: String }
  type Query {
    tasks(limit: Int): [Task!]!
    posts(search: String, limit: Int): [Post!]!
    postsAggregate(where: PostFilter): PostAggregate!
  }
`;
export const MANIFEST = 'name: bench\nauth: {}\n';

const PROJECTS = 100;

export interface SharedDatabase extends TestDatabase {
  /** The role without a right to more than the policy lets through. */
  readonly role: string;
}

export async function openDatabase(): Promise<SharedDatabase> {
  const database = await createDatabase();
  const role = `visitor_${new URL(database.url).pathname.slice(1)}`;
  const server = await startServer(SDL, {
    database: 'postgres',
    manifest: MANIFEST,
    url: database.url,
  });
  try {
    for (const statement of [...rows(), ...forPostGraphile(role)])
      await server.store.query(statement, []);
  } finally {
    await server.close();
  }
  const drop = async () => {
    await administer(database.url, `drop owned by ${role}`, `drop role ${role}`);
    await database.drop();
  };
  return { ...database, role, drop };
}

async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const { default: driver } = await import('pg');
  const client: pg.Client = new driver.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A word of rank n is in about one of n texts. The seed makes every run the same. */
const words = (count: number, of: string) =>
  `(select string_agg('w' || floor(power(2000, random()))::int, ' ') from generate_series(1, ${count}) where ${of} > 0)`;

const rows = (): readonly string[] => [
  'select setseed(0.42)',
  `insert into users (email) select n || '@x.test' from generate_series(1, 2) n`,
  `insert into projects (name) select 'project ' || n from generate_series(1, ${PROJECTS}) n`,
  `insert into members (project_id, user_id, role) select n, case when n % 10 = 7 then 1 else 2 end, 'EDITOR' from generate_series(1, ${PROJECTS}) n`,
  `insert into tasks (title, project_id) select 'task ' || n, 1 + n % ${PROJECTS} from generate_series(1, ${ROWS}) n`,
  `insert into posts (title, body, kind, views) select ${words(5, 'n')}, ${words(80, 'n')}, 'kind ' || n % 5, (n::bigint * 7919) % 1000 from generate_series(1, ${ROWS}) n`,
  'analyze',
];

/**
 * Row level security with the caller in a setting, compared in a subquery that runs once, and a
 * search as a function that PostgreSQL can take into the statement.
 */
const forPostGraphile = (role: string): readonly string[] => [
  `create role ${role}`,
  `grant usage on schema public to ${role}`,
  `grant select on all tables in schema public to ${role}`,
  'alter table tasks enable row level security',
  `create policy members_read on tasks for select to ${role} using (project_id in (select project_id from members where user_id = (select nullif(current_setting('jwt.claims.user_id', true), '')::integer) and role = 'EDITOR'))`,
  `create function find_posts(search text) returns setof posts language sql stable as $$
     select p.* from twofold_search_posts s join posts p on p.id = s.k0
     where s.document @@ plainto_tsquery('twofold_search_english', search)
     order by ts_rank(s.document, plainto_tsquery('twofold_search_english', search)) desc, p.id $$`,
  "comment on table twofold_search_posts is '@behavior -*'",
];
