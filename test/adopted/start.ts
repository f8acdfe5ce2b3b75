import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createServer } from '../../runtime/core/server.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { createDatabase } from '../engines/available.ts';
import { ROWS, SDL, SHARED, TABLES } from './ugly.ts';

const MANIFEST = 'name: adopted\ndatabase:\n  managed: false\napi:\n  rest: true\n';

/** Runs statements as the owner of the database does. */
export async function execute(url: string, statements: readonly string[]): Promise<void> {
  const store = openStore(url, '/', { foreign: false });
  try {
    for (const statement of statements) await sql.raw(statement).execute(store.db);
  } finally {
    await store.close();
  }
}

export async function emptyDatabase(kind: 'sqlite' | 'postgres') {
  if (kind === 'postgres') return createDatabase();
  const file = join(mkdtempSync(join(tmpdir(), 'adopted-')), 'theirs.db');
  return { url: `file:${file}`, drop: async () => {} };
}

export async function uglyDatabase(kind: 'sqlite' | 'postgres') {
  const database = await emptyDatabase(kind);
  await execute(database.url, [
    ...TABLES[kind],
    ...SHARED,
    ...ROWS(kind === 'postgres' ? 'music.' : ''),
  ]);
  return database;
}

export interface Adopted {
  readonly url: string;
  query(text: string, variables?: object): Promise<any>;
  rest(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  close(): Promise<void>;
}

/** The real server over a database that others made. */
export async function serve(databaseUrl: string, sdl = SDL, manifest = MANIFEST): Promise<Adopted> {
  const server = createServer().schema(sdl, manifest);
  const lines: string[] = [];
  const { url } = await server.start('127.0.0.1:0', {
    env: { DATABASE_URL: databaseUrl, NODE_ENV: 'test' },
    logTo: { write: (line) => void lines.push(line) },
  });
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    url,
    query: async (query, variables) => (await send('POST', '/graphql', { query, variables })).body,
    rest: send,
    close: () => server.close(),
  };
}
