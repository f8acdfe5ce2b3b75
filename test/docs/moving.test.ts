import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { linkPackages, makeProject, repo, type TestProject } from '../generator/project.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { type Block, readPage } from './page.ts';

const PAGES = ['a-database', 'prisma', 'hasura'].map(
  (from) => `generator/docs/moving-from-${from}.md`,
);
const postgres = databases.find(({ name }) => name === 'PostgreSQL')!;
/** The project's `.env` names the database. */
const { DATABASE_URL: _database, NODE_ENV: _node, ...ENV } = process.env;
const SAID = 'postgres://app:secret@localhost/shop';

/** What the steps of a page have made so far. */
interface Walk {
  readonly project: TestProject;
  readonly database: TestDatabase;
  readonly port: number;
  server: ChildProcess | null;
  log: string;
  token: string;
  out: string;
}

let walk: Walk | null = null;
afterEach(async () => {
  if (!walk) return;
  await stop(walk);
  walk.project.remove();
  await walk.database.drop();
  walk = null;
});

describe.skipIf(postgres.missing !== null)('a page about moving, followed step by step', () => {
  it.each(PAGES.filter((path) => existsSync(join(repo, path))))(
    '%s',
    async (path) => {
      walk = {
        project: makeProject({}),
        database: await postgres.create(),
        port: await freePort(),
        server: null,
        log: '',
        token: '',
        out: '',
      };
      const blocks = readPage(path).blocks;
      expect(blocks.length).toBeGreaterThan(5);
      for (const block of blocks) await follow(walk, block).catch((error) => at(block, error));
    },
    240_000,
  );
});

function at({ line }: Block, error: Error): never {
  error.message = `block at line ${line}: ${error.message}\n${walk?.log.slice(-2000) ?? ''}`;
  throw error;
}

async function follow(walking: Walk, { language, role, options, text }: Block): Promise<void> {
  const { project } = walking;
  if (options['file']) return project.write(options['file'], text);
  if (language === 'graphql' && role === 'edit') return editSchema(project, text);
  switch (language) {
    case 'sql':
      return runSql(walking, text);
    case 'sh':
      for (const line of text.trim().split('\n')) await run(walking, line);
      return;
    case 'json':
      return expectLike(JSON.parse(walking.out), JSON.parse(text));
    case 'text':
      for (const line of text.trim().split('\n')) expect(walking.out).toContain(line);
      return;
    default:
      // What the reader only looks at.
      expect(role).toBe('');
  }
}

/** Each definition of the text takes the place of the one with its name. */
function editSchema(project: TestProject, text: string): void {
  let schema = project.read('schema.graphql');
  for (const definition of text.trim().split(/\n(?=(?:type|input|enum) )/)) {
    const head = /^(type|input|enum) \w+/.exec(definition)![0];
    const old = new RegExp(`^${head}\\b[^]*?^}\\n?`, 'm');
    schema = old.test(schema)
      ? schema.replace(old, () => `${definition.trim()}\n`)
      : `${schema}\n${definition.trim()}\n`;
  }
  project.write('schema.graphql', schema);
}

async function runSql({ database }: Walk, text: string): Promise<void> {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** The commands of a page, with the database, the port and the packages of this test. */
async function run(walking: Walk, line: string): Promise<void> {
  const { project, database } = walking;
  const said = line.replaceAll(SAID, database.url);
  if (said === 'npm install') {
    if (!project.has('node_modules')) linkPackages(project);
    return;
  }
  if (said === 'npm start') return start(walking);
  const loaded = /^psql \S+ -f (\S+)$/.exec(said);
  if (loaded) return runSql(walking, readFileSync(project.path(loaded[1]!), 'utf8'));
  if (said.startsWith('npx generator ')) return generator(walking, said.slice(14));
  if (!/^(curl|echo|grep) /.test(said))
    throw new Error(`the test does not know this command: ${line}`);
  await shell(walking, said.replaceAll('localhost:8080', `localhost:${walking.port}`));
  walking.token = /"accessToken":"([^"]+)"/.exec(walking.out)?.[1] ?? walking.token;
}

async function generator(walking: Walk, words: string): Promise<void> {
  const [command, file] = words.split(' > ');
  await shell(walking, `"${process.execPath}" "${join(repo, 'generator/bin.js')}" ${command}`);
  if (file) writeFileSync(walking.project.path(file), walking.out);
}

async function shell(walking: Walk, command: string): Promise<void> {
  const mail = command.includes('$MAIL_TOKEN') ? await mailToken(walking) : '';
  const child = spawn('sh', ['-c', command.startsWith('curl') ? `${command} -sS` : command], {
    cwd: walking.project.root,
    env: { ...ENV, TOKEN: walking.token, MAIL_TOKEN: mail },
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const [code] = (await once(child, 'close')) as [number];
  walking.out = out;
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${out}\n${errors}`);
}

/** The mail is sent after the answer, so that its time tells nothing. */
async function mailToken(walking: Walk): Promise<string> {
  const find = () => walking.log.match(/token=([\w-]+)/g)?.at(-1);
  await expect.poll(find, { timeout: 10_000 }).toBeDefined();
  return find()!.slice('token='.length);
}

async function start(walking: Walk): Promise<void> {
  await stop(walking);
  const { project, port } = walking;
  const server = spawn(process.execPath, ['src/server.ts'], {
    cwd: project.root,
    env: { ...ENV, PORT: String(port), HOST: '127.0.0.1' },
  });
  walking.server = server;
  walking.log = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      walking.log += chunk;
      if (walking.log.includes('listening on')) resolve();
    };
    server.stdout.on('data', read);
    server.stderr.on('data', read);
    server.once('close', () => reject(new Error(`the server ended:\n${walking.log}`)));
  });
}

async function stop(walking: Walk): Promise<void> {
  const { server } = walking;
  walking.server = null;
  if (!server || server.exitCode !== null) return;
  server.kill();
  await once(server, 'close');
}

/** `"…"` stands for any value. */
function expectLike(found: unknown, said: unknown): void {
  expect(filled(found, said)).toEqual(said);
}

function filled(found: unknown, said: unknown): unknown {
  if (said === '…' && found !== undefined) return '…';
  if (Array.isArray(said) && Array.isArray(found))
    return found.map((each, index) => filled(each, said[index]));
  if (typeof said !== 'object' || said === null || typeof found !== 'object' || found === null)
    return found;
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, filled(value, (said as any)[name])]),
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
