import { fileURLToPath } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import DataLoader from 'dataloader';
import pg from 'pg';
import { postgresLookup, type SessionLookup, sqliteLookup } from './sign-in.ts';
import type { Shape } from '../shape.ts';

export interface User {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

export interface Post {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly author_id: number;
}

export type Maybe<T> = T | Promise<T>;

/** The reads and the one write that the peers' resolvers need: prepared statements, the same for all of them. */
export interface PeerSource {
  user(id: number): Maybe<User | undefined>;
  usersByIds(ids: readonly number[]): Maybe<readonly User[]>;
  users(limit: number): Maybe<readonly User[]>;
  posts(limit: number): Maybe<readonly Post[]>;
  postsByAuthors(ids: readonly number[]): Maybe<readonly Post[]>;
  createPost(title: string, body: string, author: number): Maybe<Post>;
}

/** A peer's database, and what finds sessions in it where people sign in. */
export interface PeerDatabase {
  readonly source: PeerSource;
  readonly lookup: SessionLookup | undefined;
}

const USER = 'id, name, email';
const POST = 'id, title, body, author_id';

export function openPeerDatabase(url: string, shape: Shape): PeerDatabase {
  const signsIn = shape === 'asRun';
  if (url.startsWith('file:')) {
    const database = openFile(url);
    return { source: sqliteSource(database), lookup: signsIn ? sqliteLookup(database) : undefined };
  }
  const ask = openPool(url);
  return { source: postgresSource(ask), lookup: signsIn ? postgresLookup(ask) : undefined };
}

/** With the settings that the runtime gives its own database. */
export function openFile(url: string): DatabaseSync {
  const database = new DatabaseSync(
    url.startsWith('file:///') ? fileURLToPath(url) : url.slice('file:'.length),
    { timeout: 5000 },
  );
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on;',
  );
  return database;
}

/** A bare `limit ?` would let SQLite plan the statement anew for every value of it. */
function sqliteSource(database: DatabaseSync): PeerSource {
  const user = database.prepare(`select ${USER} from users where id = ?`);
  const usersByIds = database.prepare(
    `select ${USER} from users where id in (select value from json_each(?))`,
  );
  const users = database.prepare(`select ${USER} from users order by id limit +?`);
  const posts = database.prepare(`select ${POST} from posts order by id limit +?`);
  const postsByAuthors = database.prepare(
    `select ${POST} from posts where author_id in (select value from json_each(?)) order by id`,
  );
  const insert = database.prepare(
    `insert into posts (title, body, author_id) values (?, ?, ?) returning ${POST}`,
  );
  const many = <T>(rows: unknown) => rows as readonly T[];
  return {
    user: (id) => user.get(id) as User | undefined,
    usersByIds: (ids) => many(usersByIds.all(JSON.stringify(ids))),
    users: (limit) => many(users.all(limit)),
    posts: (limit) => many(posts.all(limit)),
    postsByAuthors: (ids) => many(postsByAuthors.all(JSON.stringify(ids))),
    createPost: (title, body, author) => {
      database.exec('begin immediate');
      const [post] = many<Post>(insert.all(title, body, author));
      database.exec('commit');
      return post as Post;
    },
  };
}

type Ask = <T>(name: string, text: string, values: unknown[]) => Promise<T[]>;

function openPool(url: string): Ask {
  const types = {
    getTypeParser: (oid: number, format?: 'text') =>
      oid === 20 ? Number : pg.types.getTypeParser(oid, format),
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    types: types as pg.CustomTypesConfig,
  });
  return async <T>(name: string, text: string, values: unknown[]) =>
    (await pool.query({ name, text, values })).rows as T[];
}

function postgresSource(ask: Ask): PeerSource {
  return {
    user: async (id) =>
      (await ask<User>('user', `select ${USER} from users where id = $1`, [id]))[0],
    usersByIds: (ids) => ask('users-by-ids', `select ${USER} from users where id = any($1)`, [ids]),
    users: (limit) => ask('users', `select ${USER} from users order by id limit $1`, [limit]),
    posts: (limit) => ask('posts', `select ${POST} from posts order by id limit $1`, [limit]),
    postsByAuthors: (ids) =>
      ask('posts-by-authors', `select ${POST} from posts where author_id = any($1) order by id`, [
        ids,
      ]),
    createPost: async (title, body, author) =>
      (
        await ask<Post>(
          'insert',
          `insert into posts (title, body, author_id) values ($1, $2, $3) returning ${POST}`,
          [title, body, author],
        )
      )[0] as Post,
  };
}

/** One set for each request, as the package's documentation says. */
export interface PeerContext {
  readonly source: PeerSource;
  /** Who is signed in, where people sign in. */
  readonly caller: number | null;
  readonly user: DataLoader<number, User | undefined>;
  readonly posts: DataLoader<number, readonly Post[]>;
}

export function peerContext(source: PeerSource, caller: number | null = null): PeerContext {
  return {
    source,
    caller,
    user: new DataLoader(async (ids) => {
      const byId = new Map((await source.usersByIds(ids)).map((user) => [user.id, user]));
      return ids.map((id) => byId.get(id));
    }),
    posts: new DataLoader(async (ids) => {
      const byAuthor = new Map<number, Post[]>(ids.map((id) => [id, []]));
      for (const post of await source.postsByAuthors(ids)) byAuthor.get(post.author_id)?.push(post);
      return ids.map((id) => byAuthor.get(id) ?? []);
    }),
  };
}
