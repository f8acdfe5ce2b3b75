import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { buildTables, readProject, type Project } from '@twofold/schema';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createCredentials, type Credentials } from './credentials.ts';
import { type Declared, DECLARED, type Shape } from './shape.ts';
import { makeRows } from './workloads.ts';

/** A database with the rows of the benchmark, and what takes it away again. */
export interface Database {
  readonly url: string;
  readonly shape: Shape;
  /** Of a user who is signed in; where nobody signs in, there are none. */
  readonly credentials: Credentials | undefined;
  drop(): Promise<void>;
}

export function projectOf({ sdl, manifest }: Declared): Project {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: manifest === undefined ? null : { file: 'manifest.yaml', text: manifest },
  });
  if (!project) throw new TypeError(diagnostics.map(({ summary }) => summary).join('\n'));
  return project;
}

export async function sqliteDatabase(shape: Shape = 'bare'): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-bench-'));
  const url = `file:${join(folder, 'app.db')}`;
  const credentials = await fill(url, shape);
  const drop = async () => rmSync(folder, { recursive: true, force: true });
  return { url, shape, credentials, drop };
}

/** A database of its own on the server at `url`. */
export async function postgresDatabase(url: string, shape: Shape = 'bare'): Promise<Database> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await administer(url, `create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const credentials = await fill(own.href, shape);
  const drop = () => administer(url, `drop database ${name} with (force)`);
  return { url: own.href, shape, credentials, drop };
}

async function fill(url: string, shape: Shape): Promise<Credentials | undefined> {
  const project = projectOf(DECLARED[shape]);
  await seed(openStore(url, '/'), project);
  return shape === 'asRun' ? createCredentials(project, url) : undefined;
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function seed(store: Store, project: Project): Promise<void> {
  const rows = makeRows();
  await createTables(store, buildTables(project), project.ids);
  await store.transaction(async (trx) => {
    for (const some of chunks(rows.users))
      await trx
        .insertInto('users')
        .values([...some])
        .execute();
    for (const some of chunks(rows.posts))
      await trx
        .insertInto('posts')
        .values(some.map(({ authorId, ...post }) => ({ ...post, author_id: authorId })))
        .execute();
  });
  if (store.dialect === 'postgres') {
    for (const table of ['users', 'posts'])
      await store.query(
        `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
        [],
      );
  }
  await store.query('analyze', []);
  await store.close();
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += 500) yield items.slice(start, start + 500);
}
