import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { query } from '../server/program.ts';
import { root } from '../source-files.ts';

const home = mkdtempSync(join(tmpdir(), 'twofold-workspace-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What npm and the tests have set for themselves belongs to this repository. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV|PORT|HOST|DATABASE_URL|CI$)/.test(name),
  ),
) as Record<string, string>;

it('init --start inside an npm workspace installs at its root, starts and answers', async () => {
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ name: 'shop', private: true, workspaces: ['apps/*'] }),
  );
  const program = spawn(
    process.execPath,
    [join(root, 'generator/bin.js'), 'init', 'apps/blog', '--template', 'blog', '--start'],
    { cwd: home, env: { ...environment, PORT: '0' }, detached: true },
  );
  try {
    const answer = await query(await listening(program), '{ posts { title } }');
    expect(answer).toEqual({ data: { posts: expect.any(Array) } });
    expect(existsSync(join(home, 'node_modules/@twofold/runtime'))).toBe(true);
    expect(existsSync(join(home, 'apps/blog/node_modules/@twofold/runtime'))).toBe(false);
  } finally {
    process.kill(-(program.pid as number), 'SIGKILL');
  }
});

/** Where the server says that it listens. */
function listening(program: ReturnType<typeof spawn>): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const found = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (found) resolve(found);
    };
    program.stdout?.on('data', read);
    program.stderr?.on('data', read);
    program.once('close', () => reject(new Error(`it ended before it listened:\n${text}`)));
  });
}
