import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { clientOf, listOf, startServer } from '../client/server.ts';
import { readPage } from '../docs/page.ts';
import { end, type Program } from '../server/program.ts';
import { serve } from './server.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'twofold-clients-'));
const execute = promisify(execFile);

/** What npm and vitest set for themselves is not for these programs. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV|NODE_OPTIONS|NODE_TEST)/.test(name),
  ),
);

/** Its words, when it ends well; else everything that it said. */
async function type(
  command: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await execute(command, words, {
    cwd: home,
    env: { ...environment, ...env },
    maxBuffer: 1 << 26,
  }).catch((failed: { stdout: string; stderr: string }) => {
    throw new Error(`${command} ${words.join(' ')}\n${failed.stdout}${failed.stderr}`, {
      cause: failed,
    });
  });
  return stdout;
}

const node = (...words: string[]) => type(process.execPath, words);

let program: Program | undefined;

beforeAll(async () => {
  cpSync(join(here, 'programs'), home, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    cpSync(join(here, file), join(home, file));
  await type('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5']);
});
afterEach(async () => {
  if (program) await end(program);
  program = undefined;
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const inHome = (words: readonly string[], url: string) =>
  type(process.execPath, ['--test', '--test-reporter=tap', '--test-timeout=120000', ...words], {
    SERVER_URL: url,
  });

/** Starts a server and lets the program run its tests against it; they say what failed. */
async function runs(name: string): Promise<string> {
  const served = await serve();
  program = served.program;
  passes(await inHome([`${name}.ts`], served.url));
  return served.program.output();
}

function passes(told: string): void {
  expect(told).toMatch(/^# pass [1-9]/m);
  expect(told).toMatch(/^# skipped 0$/m);
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(home, folder), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, folder, name), text);
}

/** The examples of the page, each beside the typed documents that it imports. */
function writeCaches(): void {
  const { blocks } = readPage('generator/docs/caches.md');
  for (const { role, text } of blocks.filter(({ language }) => language === 'ts')) {
    const format = role === 'tanstack' ? 'string' : 'ast';
    write(`caches/${role}`, { 'example.ts': text });
    write(`caches/${role}/api`, clientOf({ format, send: 'hash-only' }));
  }
}

/** A server that runs the documents of the caches, and no others. */
function startStrict() {
  write('.', { 'documents.json': JSON.stringify({ ...listOf(false), ...listOf(true) }) });
  vi.spyOn(process, 'cwd').mockReturnValue(home);
  const manifest = 'api: { access: public, trusted_documents: { required: true } }\n';
  return startServer({ manifest }).finally(() => vi.restoreAllMocks());
}

// Servers, compilers and programs of their own: a busy machine takes its time.
describe('the programs with clients of other people', { timeout: 240_000 }, () => {
  it.each([
    ['graphql-ws', 'queries, mutations, events and errors over a socket'],
    ['graphql-sse', 'the same over server-sent events'],
    ['urql', 'its cache, GET, errors and both kinds of events'],
    ['apollo', 'pages in its cache, hashes for documents, batches, errors and events'],
  ])('%s: %s', async (name) => {
    const log = await runs(name);
    // A client that leaves is nothing to complain of.
    expect(
      log.split('\n').filter((line) => /"level":[56]0/.test(line) && !line.includes('cupboard')),
    ).toEqual([]);
  });

  it('relay: its compiler takes the schema, and what it made pages, refetches and updates', async () => {
    const generated = join(home, 'relay/__generated__');
    mkdirSync(generated);
    writeFileSync(join(generated, 'package.json'), '{ "type": "commonjs" }\n');
    await node('node_modules/relay-compiler/cli.js', 'relay.config.json');
    await runs('relay');
  });

  it('rest: a client with the types of openapi-typescript', async () => {
    const served = await serve();
    program = served.program;
    writeFileSync(
      join(home, 'openapi.json'),
      await (await fetch(`${served.url}/api/openapi.json`)).text(),
    );
    await end(program);
    await node('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'rest-api.d.ts');
    await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
    await runs('rest');
  });

  it('hey-api: the client that it prints calls every route', async () => {
    const served = await serve();
    program = served.program;
    const openapi = await (await fetch(`${served.url}/api/openapi.json`)).text();
    write('.', { 'openapi.json': openapi });
    await node('node_modules/@hey-api/openapi-ts/bin/run.js', '-f', 'hey-api.config.js');
    await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.hey-api.json');
    passes(await inHome(['hey-api.ts'], served.url));
  });

  it('typed documents in TanStack Query, Apollo Client and urql, as the page shows them', async () => {
    writeCaches();
    await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.caches.json');
    const server = await startStrict();
    try {
      passes(await inHome(['caches.ts'], server.url));
    } finally {
      await server.close();
    }
  });
});
