import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createDatabase, describeWith } from '../engines/available.ts';
import { root } from '../source-files.ts';
import { type Block, readPage } from './page.ts';

const PAGES = ['from-nothing', 'your-own-rules', 'deployed'].map(
  (name) => `site/pages/start/${name}.md`,
);

/** What the pages say, where a test needs another thing. */
const SAID = { database: 'postgres://app:secret@localhost/shop', folder: '../shop' };

/** Settings that a reader does not have. */
const FOREIGN = /^(npm_|VITEST|NODE_ENV|HOST|PORT|DATABASE_URL|APP_URL|CI$)/;

/** The terminal of the reader. */
const terminal = {
  cwd: root,
  env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name))),
  out: '',
  log: '',
  server: null as ChildProcess | null,
};

describeWith('postgres', 'the first hour, followed to the letter in an empty folder', () => {
  const home = mkdtempSync(join(tmpdir(), 'twofold-hour-'));
  let drop = async () => {};
  afterAll(async () => {
    await stop();
    await drop();
    rmSync(home, { recursive: true, force: true });
  });

  it.each(PAGES)(
    '%s',
    async (path) => {
      if (path === PAGES[0]) {
        const database = await createDatabase();
        drop = database.drop;
        Object.assign(terminal.env, { PORT: String(await freePort()) });
        Object.assign(SAID, { use: database.url });
      }
      for (const block of readPage(path).blocks)
        await follow(block, home).catch((error: Error) => {
          error.message = `${path}:${block.line} ${error.message}\n${terminal.log.slice(-1500)}`;
          throw error;
        });
    },
    300_000,
  );
});

async function follow({ language, options, text, line }: Block, home: string): Promise<void> {
  const file = options['file'];
  if (file !== undefined) {
    mkdirSync(dirname(join(terminal.cwd, file)), { recursive: true });
    return writeFileSync(join(terminal.cwd, file), text);
  }
  if (language === 'sh') for (const command of text.trim().split('\n')) await type(command, home);
  else if (language === 'json')
    expect(JSON.parse(terminal.out)).toMatchObject(expected(JSON.parse(text)));
  else if (language === 'text')
    for (const each of text.trim().split('\n')) expect(terminal.out).toContain(each);
  else throw new Error(`nothing follows the block at line ${line}`);
}

/** `"…"` stands for what differs from run to run. An answer may have more than the page shows. */
function expected(value: unknown): any {
  if (value === '…') return expect.anything();
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expected(each)]));
}

async function type(command: string, home: string): Promise<void> {
  const typed = command
    .replaceAll(SAID.database, (SAID as { use?: string }).use ?? '')
    .replaceAll(SAID.folder, join(home, 'shop'))
    .replaceAll('localhost:8080', `localhost:${terminal.env['PORT']}`);
  const [, folder] = /^cd (.+)$/.exec(typed) ?? [];
  if (folder !== undefined) terminal.cwd = folder;
  else if (typed.startsWith('export ')) exportAll(typed.slice(7));
  else if (typed === 'npm start') await start();
  else await run(typed);
  const token = /"accessToken":"([^"]+)"/.exec(terminal.out)?.[1];
  if (token) terminal.env['TOKEN'] = token;
}

function exportAll(words: string): void {
  for (const word of words.split(' ')) {
    const [name = '', ...value] = word.split('=');
    terminal.env[name] = value.join('=');
  }
}

async function run(command: string): Promise<void> {
  // Only curl shows how far it is, and only its status is none of the reader's business.
  const child = spawn('sh', ['-c', command.replace(/^curl /, 'curl -sS ')], terminal);
  let errors = '';
  terminal.out = '';
  child.stdout.on('data', (chunk) => (terminal.out += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${terminal.out}${errors}`);
  // What a command reports is on both, and a reader sees one text.
  if (!command.startsWith('curl')) terminal.out += errors;
}

/** Starts the server in a terminal of its own, after Ctrl+C for the one before. */
async function start(): Promise<void> {
  await stop();
  const server = spawn('npm', ['start'], { ...terminal, detached: true });
  terminal.server = server;
  terminal.log = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      terminal.log += chunk;
      if (terminal.log.includes('listening on')) resolve();
    };
    server.stdout!.on('data', read);
    server.stderr!.on('data', read);
    server.once('close', () => reject(new Error('the server ended')));
  });
}

async function stop(): Promise<void> {
  const { server } = terminal;
  terminal.server = null;
  if (!server || server.exitCode !== null) return;
  const ended = once(server, 'close');
  process.kill(-server.pid!, 'SIGINT');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
