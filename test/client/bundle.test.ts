import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, expect, it } from 'vitest';
import { clientOf } from './server.ts';

const home = mkdtempSync(join(tmpdir(), 'client-bundle-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What a bundler makes of one module that imports from the folder. */
async function bundle(
  entry: string,
  changes: Parameters<typeof clientOf>[0] = {},
): Promise<string> {
  const folder = mkdtempSync(join(home, 'out-'));
  for (const [name, text] of Object.entries({ ...clientOf(changes), 'entry.ts': entry }))
    writeFileSync(join(folder, name), text);
  const output = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: false,
      // A library keeps its white space; this is what a page loads.
      rolldownOptions: {
        input: join(folder, 'entry.ts'),
        preserveEntrySignatures: 'strict',
      },
    },
  });
  const [{ output: chunks }] = [output].flat() as unknown as [{ output: { code: string }[] }];
  return chunks[0]!.code;
}

const zipped = (code: string) => gzipSync(code, { level: 9 }).length;

it.each(['body', 'cookie', null] as const)(
  'the client is at most 4,096 bytes, minified and compressed: delivery %s',
  async (delivery) => {
    const code = await bundle("export { createClient } from './index.ts';", {
      server: { graphql: '/graphql', delivery },
    });
    if (process.env['BENCH']) console.log(`delivery ${delivery}: ${zipped(code)} bytes`);
    expect(zipped(code)).toBeLessThanOrEqual(4_096);
  },
);

it('a document of hash-only is at most 150 bytes, and one that nothing uses is dropped', async () => {
  const one = await bundle("export { PostDocument } from './index.ts';", { send: 'hash-only' });
  const two = await bundle("export { PostDocument, PostsDocument } from './index.ts';", {
    send: 'hash-only',
  });
  expect(two.length - one.length).toBeLessThanOrEqual(150);
  expect(one).not.toContain('Posts');
  const none = await bundle("import './index.ts'; export const nothing = 0;");
  expect(none).not.toMatch(/Post|fetch|sha256/);
});

it.each(['string', 'ast'] as const)('only what is used is in the bundle: %s', async (format) => {
  const code = await bundle("export { PostDocument } from './index.ts';", { format });
  expect(code).toContain('Card');
  expect(code).not.toContain('Added');
});
