import { type ChildProcess, spawn } from 'node:child_process';
import type { TestProject } from '../project.ts';

/** Starts the server of a project. @returns it, and its address */
export async function start(shop: TestProject): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd: shop.root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const found = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${text}`)));
  });
  return [child, url];
}
