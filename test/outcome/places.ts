import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe } from 'vitest';
import type { App } from '../../runtime/core/app.ts';
import type { RequestContext } from '../../runtime/core/context/request-context.ts';
import type { Kernel } from '../../runtime/core/module.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase, describeWith } from '../engines/available.ts';
import { startPooler } from '../engines/pgbouncer.ts';
import { projectOf } from '../graphql/harness.ts';

export interface Server {
  readonly ctx: RequestContext;
  readonly lines: string[];
  readonly url: string;
  query(
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<{ data?: any; errors?: any[] }>;
}

interface Place {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

export interface Given extends Omit<App, 'project' | 'root'> {
  readonly sdl: string;
  readonly manifest?: string;
}

/** Runs tests with one server on SQLite, and with two on PostgreSQL and behind a pooler. */
export function everywhere(name: string, given: Given, body: (servers: Server[]) => void): void {
  const within = (count: number, place: () => Promise<Place>) => () => {
    const servers: Server[] = [];
    const ends: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      const { url, drop } = await place();
      for (let at = 0; at < count; at += 1) {
        const { close, ...server } = await start(given, url);
        ends.push(close);
        servers.push(server);
      }
      ends.push(drop);
    }, 60_000);
    afterEach(async () => {
      servers.length = 0;
      for (const end of ends.splice(0)) await end();
    });
    body(servers);
  };
  describe(`${name} on SQLite`, within(1, onDisk));
  describeWith('postgres', `${name} on PostgreSQL, with two servers`, within(2, createDatabase));
  describeWith('pgbouncer', `${name} behind a pooler, with two servers`, within(2, pooled));
}

/** Calls `work` for each of `times` numbers at once, on all servers in turn. */
export const atOnce = <T>(
  servers: readonly Server[],
  times: number,
  work: (server: Server, at: number) => Promise<T>,
): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, at) => work(servers[at % servers.length]!, at)));

async function onDisk(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-outcome-'));
  return {
    url: `file:${join(folder, 'app.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function pooled(): Promise<Place> {
  const pooler = await startPooler({ size: 6 });
  const { url, drop } = await createDatabase();
  return {
    url: pooler.through(url),
    drop: async () => {
      await pooler.stop();
      await drop();
    },
  };
}

async function start({ sdl, manifest, ...app }: Given, url: string) {
  const lines: string[] = [];
  const root = mkdtempSync(join(tmpdir(), 'twofold-outcome-root-'));
  let kernel: Kernel | undefined;
  const running = await createServer({
    ...app,
    project: projectOf(sdl, manifest ?? 'name: outcome\napi: { rest: true }'),
    root: pathToFileURL(`${root}/`),
    plugins: [{ name: 'kernel', hooks: { start: (given) => void (kernel = given) } }],
  }).start('127.0.0.1:0', {
    env: { DATABASE_URL: url, LOG_LEVEL: 'debug' },
    logTo: { write: (line) => void lines.push(line) },
  });
  return {
    url: running.url,
    ctx: systemContext(kernel!),
    lines,
    query: async (query: string, variables = {}) => {
      const response = await fetch(`${running.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      });
      return (await response.json()) as { data?: any; errors?: any[] };
    },
    close: async () => {
      await running.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
