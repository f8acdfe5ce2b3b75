import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hosting } from '@twofold/hosting';
import { models } from '@twofold/models';
import { linkLibrary } from '../models/server.ts';
import { type ConsoleOptions, type ConsoleServer, OPERATOR, startConsole } from './server.ts';

/** A server with a console that hosts apps on a real engine. */
export interface HostingConsole extends ConsoleServer {
  /** The headers of the operator. */
  readonly operator: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Deletes every app, stops, and removes the folder. */
  end(): Promise<void>;
}

export const hostingManifest = (socket: string, more = '') => `
name: shop
api: { rest: true, access: public }
auth: { roles: { list: [Owner, Support, Member], first: Owner, default: Member } }
console: { roles: { Owner: ["*"], Support: ["apps:read", "apps:exec"] } }
hosting:
  engine: { socket: "${socket}" }
  domain: apps.test
  disk_floor: 0B
  defaults: { memory: 128MiB, pids: 256 }
  deploys: { ready_timeout: 5s, drain: 1s }
  ingress: { http: 0, https: 0 }
${more}`;

export async function startHostingConsole(
  socket: string,
  options: ConsoleOptions = {},
): Promise<HostingConsole> {
  const folder = mkdtempSync(join(tmpdir(), 'tf-console-'));
  linkLibrary(folder);
  const server = await startConsole({
    capabilities: [hosting(), models()],
    manifest: hostingManifest(socket),
    ...options,
    root: pathToFileURL(`${folder}/`),
    env: { DATABASE_URL: 'file:data/app.db', HOSTING_INGRESS: 'inline', ...options.env },
  });
  const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
  // The first request builds the pages, which takes its time on a busy machine.
  await server.call('GET', '/console');
  const operator = { Authorization: `Bearer ${body.token}` };
  return {
    ...{ ...server, operator, folder },
    async end() {
      const { body: all } = await server.call('GET', '/api/apps', undefined, operator);
      for (const { name } of all.apps ?? [])
        await server.call('DELETE', `/api/apps/${name}?volumes=true`, undefined, operator);
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
