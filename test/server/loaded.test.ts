import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../source-files.ts';
import { run } from './program.ts';

/** Serves, and says at its end which files it has loaded. */
const PROGRAM = `import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded: string[] = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.once('exit', () => writeSync(1, '\\nloaded ' + JSON.stringify(loaded) + '\\n'));
await import('./src/server.ts');
`;

describe('the server of the blog', () => {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-loaded-'));
  beforeAll(() => {
    cpSync(join(root, 'examples/blog'), folder, { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The files of the runtime that it loads before its first request. */
  async function filesOf(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const settings = {
      DATABASE_URL: 'file:blog.db',
      JWT_SECRET: 'x'.repeat(32),
      PORT: '0',
      HOST: '127.0.0.1',
    };
    const program = run(PROGRAM, { ...settings, ...env }, folder);
    await program.listening;
    program.process.kill('SIGTERM');
    await program.ended;
    const [, list = '[]'] = /^loaded (.*)$/m.exec(program.output()) ?? [];
    return (JSON.parse(list) as string[])
      .filter((url) => url.startsWith('file:'))
      .map((url) => relative(root, fileURLToPath(url)))
      .filter((path) => path.startsWith('runtime/'));
  }
  const ofDatabase = (files: readonly string[]) =>
    files.filter((path) => path.startsWith('runtime/database/'));

  it('loads what changes a database to make its tables, and never again', async () => {
    expect(ofDatabase(await filesOf({}))).not.toEqual([]);
    const settled = await filesOf({});
    console.log(`${settled.length} files of the runtime:\n${settled.toSorted().join('\n')}`);
    expect(settled.length).toBeGreaterThan(100);
    expect(ofDatabase(settled)).toEqual([]);
    expect(ofDatabase(await filesOf({ MIGRATE: 'off' }))).toEqual([]);
  });
});
