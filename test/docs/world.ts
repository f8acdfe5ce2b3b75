import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildTables, readProject, type Diagnostic, type Project } from '@twofold/schema';
import { auth } from '@twofold/auth';
import { createServer, type Resolvers, type Running } from '@twofold/runtime';
import type { Kernel } from '../../runtime/core/module.ts';

/** The server that a page's schema makes, and what its examples need: people who are signed in, a shell, open subscriptions. */
export interface World {
  readonly url: string;
  graphql(query: string, variables: unknown, as: string | undefined): Promise<unknown>;
  /** Runs a command line of the page, its `localhost:8080` being this server. */
  shell(command: string): Promise<{ status: number; body: unknown }>;
  /** Opens a subscription; its events are read by `nextEvent`. */
  subscribe(query: string, as: string | undefined): Promise<void>;
  nextEvent(): Promise<unknown>;
  /** The `create table` and `create index` texts of the database. */
  tables(): Promise<string[]>;
  close(): Promise<void>;
}

const SECRETS = {
  JWT_SECRET: 'a secret of the pages that is long enough',
  API_KEY: 'key-of-the-pages-0123456789abcdef',
  RATE_LIMIT_ENABLED: 'false',
  SETUP_TOKEN: 'setup-of-the-pages-0123456789abcdef',
};
const PASSWORD = 'correct horse battery staple';

export function read(
  sdl: string,
  manifest: string | undefined,
): { project: Project | null; diagnostics: readonly Diagnostic[] } {
  return readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: manifest === undefined ? null : { file: 'manifest.yaml', text: manifest },
  });
}

/** Starts the real server, over a database in memory. */
export async function startWorld(
  project: Project,
  resolvers: Resolvers = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<World> {
  let kernel: Kernel | undefined;
  const look = { name: 'look', hooks: { start: (given: Kernel) => void (kernel = given) } };
  const server = createServer({
    project,
    resolvers,
    capabilities: project.auth ? [auth()] : [],
    plugins: [look],
  });
  const running = await server.start('127.0.0.1:0', {
    env: { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent', ...SECRETS, ...environment },
  });
  return worldOf(running, () => statements(kernel!, project));
}

async function statements(kernel: Kernel, project: Project): Promise<string[]> {
  const names = new Set(buildTables(project).map(({ name }) => name));
  const rows = (await kernel.store.query(
    'select tbl_name, sql from sqlite_master where sql is not null order by rowid',
    [],
  )) as { tbl_name: string; sql: string }[];
  return rows.filter(({ tbl_name }) => names.has(tbl_name)).map(({ sql }) => sql);
}

/** The same over a server that runs already. */
export function worldOf(
  running: Pick<Running, 'url' | 'close'>,
  tables: () => Promise<string[]>,
): World {
  const { url } = running;
  const people = new Map<string, string>();
  const ended = new AbortController();
  // A command of a page may write a file.
  const folder = mkdtempSync(join(tmpdir(), 'twofold-page-'));
  const headersOf = async (as: string | undefined): Promise<Record<string, string>> =>
    as === undefined
      ? {}
      : as === 'key'
        ? { 'X-API-Key': SECRETS.API_KEY }
        : { Authorization: `Bearer ${await tokenOf(url, people, as)}` };
  const post = async (
    query: string,
    variables: unknown,
    as: string | undefined,
    accept = 'application/json',
    signal?: AbortSignal,
  ) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: accept, ...(await headersOf(as)) },
      body: JSON.stringify({ query, ...(variables !== undefined && { variables }) }),
      ...(signal && { signal }),
    });
  let events: AsyncIterator<unknown> | undefined;
  return {
    url,
    graphql: async (query, variables, as) => (await post(query, variables, as)).json(),
    shell: async (command) =>
      runShell(command, url, folder, {
        TOKEN: command.includes('$TOKEN') ? await tokenOf(url, people, 'ann') : '',
        API_KEY: SECRETS.API_KEY,
      }),
    subscribe: async (query, as) => {
      const response = await post(query, undefined, as, 'text/event-stream', ended.signal);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      events = eventsOf(reader);
    },
    nextEvent: async () =>
      Promise.race([
        events?.next().then(
          ({ value }) => value as unknown,
          () => 'the stream ended',
        ),
        sleep(40_000, 'no event came', { ref: false }),
      ]),
    tables,
    close: async () => {
      ended.abort();
      await running.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A person registers when a page first speaks of them; Ann sets the server up, where a role is the first. */
async function tokenOf(url: string, people: Map<string, string>, name: string): Promise<string> {
  const known = people.get(name);
  if (known !== undefined) return known;
  const person = { email: `${name}@example.com`, password: PASSWORD, name };
  const make = async (path: string, body: object) => {
    const response = await fetch(`${url}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { accessToken?: string };
  };
  const owner =
    name === 'ann' ? await make('setup', { token: SECRETS.SETUP_TOKEN, ...person }) : null;
  const body = owner?.accessToken === undefined ? await make('register', person) : owner;
  if (body.accessToken === undefined)
    throw new Error(`${name} could not register: ${JSON.stringify(body)}`);
  people.set(name, body.accessToken);
  return body.accessToken;
}

/** The page's own command line in a real shell; only the address is another, and the status is printed behind the body. */
async function runShell(
  command: string,
  url: string,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<{ status: number; body: unknown }> {
  const script = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${command.replaceAll(/(?:http:\/\/)?localhost:8080/g, url)}`;
  const text = await new Promise<string>(
    (resolve, reject) =>
      void execFile(
        'bash',
        ['-c', script],
        { cwd: folder, env: { ...process.env, ...env } },
        (error, stdout, stderr) =>
          error ? reject(new Error(`${command}\n${stderr}`)) : resolve(stdout),
      ),
  );
  const [, body = '', status = ''] = /^([^]*)\n(\d{3})$/.exec(text) ?? [];
  return {
    status: Number(status),
    body:
      body.trim() === ''
        ? null
        : body.trim().startsWith('{') || body.trim().startsWith('[')
          ? JSON.parse(body)
          : body,
  };
}

async function* eventsOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  for (let text = ''; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^event: next\ndata: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}
