import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeProject, repo, SEED } from './project.ts';

it('generate --watch --json prints a document for each run, also for one that fails', async () => {
  const project = makeProject({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
  const words = ['generate', '--watch', '--json'];
  const watch = spawn(process.execPath, [join(repo, 'generator/bin.js'), ...words], {
    cwd: project.root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  watch.stdout.setEncoding('utf8').on('data', (chunk: string) => void (said += chunk));
  /** A document ends with a brace at the start of a line. */
  const documents = (): any[] =>
    (said.match(/^\{[^]*?^\}$/gm) ?? []).map((text) => JSON.parse(text));
  try {
    await expect.poll(() => documents().length, { timeout: 30_000 }).toBeGreaterThan(0);
    expect(documents()[0]).toMatchObject({ ok: true });
    rmSync(project.path('src/generated'), { recursive: true });
    project.write('src/generated', 'a file, and no folder');
    project.write('schema.graphql', SEED.replace('email: String!', 'email: String!\n  age: Int'));
    // A save may be seen as two.
    const failed = () => documents().find(({ ok }) => !ok);
    await expect.poll(failed, { timeout: 30_000 }).toEqual({
      ok: false,
      error: {
        code: 'SYSTEM',
        message: expect.stringContaining('is a file where a folder belongs'),
      },
    });
  } finally {
    watch.kill('SIGTERM');
    await once(watch, 'close');
    project.remove();
  }
});
