import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Running } from '../../runtime/core/index.ts';
import { clientOf, PASSWORD, register, startServer } from './server.ts';

const execute = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'client-runtimes-'));
let server: Running;

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('runtimes/', import.meta.url)), home, { recursive: true });
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'];
  await execute('npm', words, { cwd: home });
  mkdirSync(join(home, 'api'));
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(clientOf({ ending: '.js' })))
    if (name.endsWith('.ts'))
      writeFileSync(join(home, 'api', name.replace(/ts$/, 'js')), stripTypeScriptTypes(text));
  server = await startServer();
  await register(server.url, 'ada@example.com');
});
afterAll(async () => {
  await server?.close();
  rmSync(home, { recursive: true, force: true });
});

// The packages' own commands are scripts that an install runs, and here no script of a package runs.
it.each([
  ['Bun', '@oven/bun-linux-*/bin/bun', []],
  ['Deno', '@deno/linux-*/deno', ['run', '--allow-net', '--no-config']],
  ['Node 20', 'node-linux-*/bin/node', []],
])('the client signs in, asks, hears events and signs out in %s', async (_, binary, words) => {
  const [found] = globSync(`node_modules/${binary}`, { cwd: home });
  const given = [...words, join(home, 'program.js'), server.url, 'ada@example.com', PASSWORD];
  const { stdout } = await execute(join(home, found!), given, { cwd: home, timeout: 60_000 });
  expect(JSON.parse(stdout)).toEqual({
    refused: 'UNAUTHENTICATED',
    title: 'One',
    posts: 1,
    route: 'NOT_FOUND',
    session: null,
  });
});
