import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { newFolder } from './program.ts';

const SERVER = `import { createServer } from '@twofold/runtime';
await createServer().schema('type User { id: ID! } type Query { users: [User!]! }').serve('127.0.0.1:0');
`;

const started: { readonly folder: string; readonly group: number }[] = [];
afterEach(() => {
  for (const { folder, group } of started.splice(0)) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // Every process of the group has ended.
    }
    rmSync(folder, { recursive: true });
  }
});

describe('a server that npm start runs', () => {
  it.each(['1', '2'])(
    'ends when SIGTERM ends npm, which signals only the shell between, with %s processes',
    async (WORKERS) => {
      const folder = newFolder();
      writeFileSync(join(folder, 'program.ts'), SERVER);
      writeFileSync(
        join(folder, 'package.json'),
        '{ "type": "module", "scripts": { "start": "node program.ts" } }',
      );
      const npm = spawn('npm', ['start'], {
        cwd: folder,
        env: { ...process.env, WORKERS, DATABASE_URL: ':memory:', LOG_LEVEL: 'info' },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      started.push({ folder, group: npm.pid! });
      let text = '';
      npm.stdout.on('data', (chunk) => void (text += chunk));
      const ended = once(npm, 'exit');
      const url = () => /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      while (url() === undefined) await wait(50);
      const address = url()!;
      expect((await fetch(`${address}/api/health`)).status).toBe(200);
      npm.kill('SIGTERM');
      await ended;
      // npm does not wait for it.
      while (await answers(address)) await wait(50);
    },
  );
});

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/api/health`).then(
    () => true,
    () => false,
  );
