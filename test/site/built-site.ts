import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { output } from '../../site/folders.ts';
import { root } from '../source-files.ts';

/** The site as `npm run docs` builds it, on a server of static files. */
export interface BuiltSite {
  readonly url: string;
  /** What the build printed. */
  readonly said: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export async function buildSite(): Promise<BuiltSite> {
  const build = promisify(execFile);
  const { stdout, stderr } = await build(process.execPath, ['site/build.ts'], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', NODE_ENV: 'production' },
  });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    const file = extname(path) === '' ? `${path}.html` : path;
    readFile(join(output, decodeURIComponent(file))).then(
      (bytes) => {
        response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
        response.end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    said: stdout + stderr,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
