import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { readPage } from '../docs/page.ts';
import { repo } from '../generator/project.ts';
import { clientOf, register, startServer } from './server.ts';

const home = mkdtempSync(join(tmpdir(), 'client-documented-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const [example] = readPage('generator/docs/client.md').blocks.filter(
  ({ language, role }) => language === 'ts' && role === 'run',
);

const VARIANTS = (['body', 'cookie', null] as const).flatMap((delivery) =>
  (['string', 'ast'] as const).flatMap((format) =>
    (['hash', 'text', 'hash-only'] as const).map((send) => ({ delivery, format, send })),
  ),
);

function write(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(home, folder), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, folder, name), text);
}

it('every form of the folder has no error under strict flags, and without skipLibCheck', async () => {
  for (const { delivery, format, send } of VARIANTS) {
    const folder = [delivery, format, send].join('-');
    const server = { graphql: '/graphql', delivery };
    write(join(folder, 'api'), clientOf({ format, send, server }));
    if (delivery !== null) write(folder, { 'example.ts': example!.text });
  }
  symlinkSync(join(repo, 'node_modules'), join(home, 'node_modules'));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noUnusedLocals: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    types: [],
  };
  write('.', { 'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*-*/**/*.ts'] }) });
  const tsc = join(repo, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', home]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});

it('the example of the page runs', async () => {
  write('run/api', clientOf());
  write('run', { 'example.ts': example!.text });
  const server = await startServer();
  await register(server.url, 'ada@example.com');
  const { show } = await import(
    /* @vite-ignore */ pathToFileURL(join(home, 'run/example.ts')).href
  );
  expect(await show(server.url, new AbortController().signal)).toMatchObject({
    titles: ['One'],
    queryKey: ['Posts', { limit: 20 }],
    code: 'NOT_FOUND',
    session: null,
  });
  await server.close();
});
