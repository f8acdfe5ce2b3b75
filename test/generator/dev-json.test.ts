import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../engines/free-port.ts';
import { linkPackages, makeProject, repo, SEED } from './project.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Line {
  readonly event: string;
  readonly time: string;
  readonly [member: string]: any;
}

/** `dev --json` in a project of its own, and what it has printed. */
async function start(env = '', files: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const shop = makeProject({
    'schema.graphql': SEED,
    'manifest.yaml': 'name: shop\n',
    '.env': `PORT=${port}\nHOST=127.0.0.1\nDATABASE_URL=file:app.db\n${env}`,
    ...files,
  });
  ends.push(() => shop.remove());
  linkPackages(shop);
  const dev = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'dev', '--json'], {
    cwd: shop.root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  ends.push(() => dev.kill('SIGKILL'));
  const chunks: string[] = [];
  dev.stdout.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  const lines = () =>
    chunks
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  const events = () => lines().map(({ event }) => event);
  /** Waits for the event after the first `from` lines. */
  const next = (event: string, from = 0) =>
    expect.poll(() => events().slice(from), { timeout: 30_000 }).toContain(event);
  return { dev, shop, port, chunks, lines, events, next };
}

it(
  'dev --json prints an object a line for each thing that happens',
  { timeout: 90_000 },
  async () => {
    const { dev, shop, port, chunks, lines, events, next } = await start();
    await next('listening');
    expect(events()).toEqual(['started', 'generated', 'migrated', 'listening']);
    expect(lines().at(-1)!.url).toMatch(new RegExp(`^http://[^/]+:${port}$`));

    shop.write('schema.graphql', 'type {');
    await next('findings', 4);
    expect(lines().find(({ event }) => event === 'findings')!.findings).toMatchObject([
      { code: 'SDL_SYNTAX', severity: 'error', at: { file: 'schema.graphql', line: 1 } },
    ]);

    const seen = events().length;
    shop.write('schema.graphql', SEED.replace('email: String!', 'email: String!\n  age: Int'));
    await next('listening', seen);
    const more = lines().slice(seen);
    const generated = more.find(({ event }) => event === 'generated')!;
    expect(generated.ms).toBeGreaterThan(0);
    expect(generated.changes.map(({ path }: { path: string }) => path)).toContain(
      'src/generated/types.ts',
    );
    expect(more.map(({ event }) => event)).toContain('migrated');

    dev.kill('SIGTERM');
    await once(dev, 'close');
    expect(events().at(-1)).toBe('stopped');
    // A line is written whole: no chunk ends within one.
    expect(chunks.filter((chunk) => !chunk.endsWith('\n'))).toEqual([]);
    for (const { time } of lines()) expect(new Date(time).toISOString()).toBe(time);
  },
);

it(
  'dev --json reports what the server does also where its log is silent, and once for all workers',
  { timeout: 90_000 },
  async () => {
    const { port, lines, events, next } = await start('LOG_LEVEL=warn\nWORKERS=2\n');
    await next('listening');
    expect(events()).toEqual(['started', 'generated', 'migrated', 'listening']);
    expect(lines().find(({ event }) => event === 'migrated')!.migrations).toHaveLength(1);
    expect(lines().at(-1)!.url).toMatch(new RegExp(`^http://[^/]+:${port}$`));
  },
);

it('dev --json prints events alone when the first run fails', { timeout: 60_000 }, async () => {
  const { dev, lines, chunks } = await start('', { 'src/generated': 'a file, and no folder' });
  const [code] = await once(dev, 'close');
  expect([code, lines().map(({ event }) => event)]).toEqual([2, ['started', 'failed', 'stopped']]);
  expect(lines()[1]!.error).toMatchObject({
    code: 'SYSTEM',
    message: expect.stringContaining('is a file where a folder belongs'),
  });
  expect(chunks.join('').split('\n').filter(Boolean)).toHaveLength(3);
  for (const { time } of lines()) expect(new Date(time).toISOString()).toBe(time);
});
