import { hash } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import pg from 'pg';
import { HEADER, HEADER_VALUE, ORIGIN } from '../shape.ts';
import { AUTHORS, initialsOf, workloads } from '../workloads.ts';
import { openFile } from './peer-source.ts';
import {
  createSignIn,
  postgresLookup,
  type SessionLookup,
  type SignIn,
  sqliteLookup,
} from './sign-in.ts';
import { listenOn, readJson, REFUSAL, type Start } from './start.ts';

/** The limit: `node:http`, and for each operation the best statement that we know, whose JSON is sent as it is. */
export const start: Start = async (databaseUrl, shape) => {
  const answers = new Map<string, Answer>();
  const { byName, openLookup } = databaseUrl.startsWith('file:')
    ? sqliteAnswers(databaseUrl)
    : await postgresAnswers(databaseUrl);
  for (const { name, query } of workloads) answers.set(query, byName[name] as Answer);
  const answer = answering(answers);
  return listenOn(shape === 'asRun' ? signedIn(createSignIn(openLookup()), answer) : answer);
};

interface Opened {
  /** How each workload is answered. */
  readonly byName: Record<string, Answer>;
  /** Only where people sign in: elsewhere the tables of sessions are not there. */
  openLookup(): SessionLookup;
}

type Answer = (variables: Record<string, any>) => string | Promise<string>;

const answering =
  (answers: ReadonlyMap<string, Answer>): RequestListener =>
  async (request, response) => {
    const asked = await readJson(request);
    const text = (answers.get(asked.query) as Answer)(asked.variables as Record<string, any>);
    send(response, typeof text === 'string' ? text : await text);
  };

/** The same behind a sign-in, with the header of the one middleware and those of CORS. */
const signedIn =
  (signIn: SignIn, answer: RequestListener): RequestListener =>
  async (request, response) => {
    response.setHeader('Vary', 'Origin');
    response.setHeader('Access-Control-Allow-Origin', ORIGIN);
    response.setHeader('Access-Control-Allow-Credentials', 'true');
    const found = signIn(request.headers.authorization);
    const caller = found instanceof Promise ? await found : found;
    if (caller === null) return void response.writeHead(401).end(JSON.stringify(REFUSAL));
    response.setHeader(HEADER, HEADER_VALUE);
    answer(request, response);
  };

function send(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

const resolved: Answer = () =>
  JSON.stringify({
    data: {
      authors: AUTHORS.map(({ name, company, books }) => ({
        name,
        md5: hash('md5', name),
        company,
        books,
      })),
    },
  });

/** A bare `limit ?` would let SQLite plan the statement anew for every value of it. */
function sqliteAnswers(url: string): Opened {
  const database = openFile(url);
  const posts = database.prepare(
    `select json_group_array(json_object('id', cast(p.id as text), 'title', p.title, 'author', json_object('id', cast(u.id as text), 'name', u.name))) j
     from (select id, title, author_id from posts order by id limit +?) p left join users u on u.id = p.author_id`,
  );
  const users = database.prepare(
    `select json_group_array(json_object('id', cast(u.id as text), 'name', u.name, 'posts',
       (select json_group_array(json_object('id', cast(p.id as text), 'title', p.title)) from (select id, title from posts where author_id = u.id order by id) p))) j
     from (select id, name from users order by id limit +?) u`,
  );
  const user = database.prepare(
    `select json_object('id', cast(id as text), 'name', name, 'email', email) j from users where id = ?`,
  );
  const rows = database.prepare(
    'select p.id, p.title, u.id author, u.name from (select id, title, author_id from posts order by id limit +?) p left join users u on u.id = p.author_id',
  );
  const insert = database.prepare(
    'insert into posts (title, body, author_id) values (?, ?, ?) returning id',
  );
  const created = database.prepare(
    `select json_object('title', p.title, 'body', p.body, 'author', json_object('id', cast(u.id as text), 'name', u.name)) j from posts p join users u on u.id = p.author_id where p.id = ?`,
  );
  const json = (row: unknown) => (row as { j: string } | undefined)?.j ?? 'null';
  const byName: Record<string, Answer> = {
    posts: () => `{"data":{"posts":${json(posts.get(100))}}}`,
    users: () => `{"data":{"users":${json(users.get(100))}}}`,
    byId: ({ id }) => `{"data":{"user":${json(user.get(Number(id)))}}}`,
    static: resolved,
    mixed: () => JSON.stringify({ data: { posts: rows.all(100).map(toPost as never) } }),
    create: ({ input }) => {
      database.exec('begin immediate');
      const { id } = insert.get(input.title, input.body, Number(input.authorId)) as { id: number };
      const text = json(created.get(id));
      database.exec('commit');
      return `{"data":{"createPost":${text}}}`;
    },
  };
  return { byName, openLookup: () => sqliteLookup(database) };
}

const toPost = ({
  id,
  title,
  author,
  name,
}: {
  id: number;
  title: string;
  author: number;
  name: string;
}) => ({ id: String(id), title, author: { id: String(author), name, initials: initialsOf(name) } });

/** Reads share two connections, on which none waits for the answer of another; writes have others. */
async function postgresAnswers(url: string): Promise<Opened> {
  const options = { connectionString: url, pipeline: true };
  const pool = new pg.Pool({ ...options, max: 8 });
  const readers = [new pg.Client(options), new pg.Client(options)] as const;
  for (const reader of readers) await reader.connect();
  let turn = 0;
  const rowsOf = async (name: string, text: string, values: unknown[]) =>
    (await readers[(turn ^= 1) as 0 | 1].query({ name, text, values })).rows;
  const ask = async (name: string, text: string, values: unknown[]) =>
    (await rowsOf(name, text, values))[0]?.j as string;
  const posts = `select json_agg(json_build_object('id', p.id::text, 'title', p.title, 'author', json_build_object('id', u.id::text, 'name', u.name)) order by p.id)::text j
    from (select id, title, author_id from posts order by id limit $1) p join users u on u.id = p.author_id`;
  const users = `select json_agg(json_build_object('id', u.id::text, 'name', u.name, 'posts',
      (select coalesce(json_agg(json_build_object('id', p.id::text, 'title', p.title)), '[]') from (select id, title from posts where author_id = u.id order by id) p)))::text j
    from (select id, name from users order by id limit $1) u`;
  const user = `select json_build_object('id', id::text, 'name', name, 'email', email)::text j from users where id = $1`;
  const created = `select json_build_object('title', p.title, 'body', p.body, 'author', json_build_object('id', u.id::text, 'name', u.name))::text j from posts p join users u on u.id = p.author_id where p.id = $1`;
  const rows =
    'select p.id, p.title, u.id author, u.name from (select id, title, author_id from posts order by id limit $1) p join users u on u.id = p.author_id order by p.id';
  const byName: Record<string, Answer> = {
    posts: async () => `{"data":{"posts":${await ask('posts', posts, [100])}}}`,
    users: async () => `{"data":{"users":${await ask('users', users, [100])}}}`,
    byId: async ({ id }) => `{"data":{"user":${(await ask('user', user, [id])) ?? 'null'}}}`,
    static: resolved,
    mixed: async () =>
      JSON.stringify({
        data: {
          posts: (await rowsOf('rows', rows, [100])).map(toPost as never),
        },
      }),
    create: async ({ input }) => {
      const client = await pool.connect();
      try {
        const [, inserted] = await Promise.all([
          client.query('begin'),
          client.query({
            name: 'insert',
            text: 'insert into posts (title, body, author_id) values ($1, $2, $3) returning id',
            values: [input.title, input.body, input.authorId],
          }),
        ]);
        const [read] = await Promise.all([
          client.query({ name: 'created', text: created, values: [inserted.rows[0].id] }),
          client.query('commit'),
        ]);
        return `{"data":{"createPost":${read.rows[0].j}}}`;
      } finally {
        client.release();
      }
    },
  };
  return { byName, openLookup: () => postgresLookup(rowsOf) };
}
