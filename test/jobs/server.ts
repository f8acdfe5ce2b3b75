import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { App } from '../../runtime/core/app.ts';
import type { Capability } from '../../runtime/core/capability.ts';
import type { RequestContext } from '../../runtime/core/context/request-context.ts';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import type { Kernel } from '../../runtime/core/module.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import type { Resolvers } from '../../runtime/core/plugin.ts';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { projectOf } from '../graphql/harness.ts';

export const SDL = `
  type Note { id: ID! text: String! @unique }
  input Letter { to: String! @constraint(minLength: 3) copies: Int = 1 }
  type Query { notes: [Note!]! }
  type Mutation { createNote(text: String!): Note! own(text: String!, fails: Boolean): Note! }
`;

/** Databases to run a suite on. */
export const databases = [
  'sqlite',
  ...(postgresUrl || process.env['CI'] ? ['postgres'] : []),
] as readonly ('sqlite' | 'postgres')[];

export interface Place {
  readonly url: string;
  drop(): Promise<void>;
}

/** A new database, which several servers may share. */
export async function newDatabase(database: 'sqlite' | 'postgres'): Promise<Place> {
  if (database === 'postgres') return createDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'twofold-jobs-'));
  return {
    url: `file:${join(folder, 'app.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface JobServer {
  readonly url: string;
  readonly kernel: Kernel;
  readonly ctx: RequestContext;
  /** Lines of the log. */
  readonly lines: string[];
  /** Rows of a statement. */
  rows(text: string): Promise<Record<string, any>[]>;
  close(): Promise<void>;
}

export interface JobServerOptions {
  readonly jobs: Readonly<Record<string, JobOf<any>>>;
  readonly url: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly manifest?: string;
  readonly sdl?: string;
  readonly resolvers?: Resolvers;
  readonly capabilities?: readonly Capability[];
  readonly now?: () => number;
}

/** A server with jobs over a database. */
export async function startJobs(options: JobServerOptions): Promise<JobServer> {
  const lines: string[] = [];
  let kernel: Kernel | undefined;
  const root = mkdtempSync(join(tmpdir(), 'twofold-jobs-root-'));
  const app: App = {
    project: projectOf(options.sdl ?? SDL, options.manifest ?? 'name: jobs'),
    jobs: options.jobs,
    root: pathToFileURL(`${root}/`),
    ...(options.resolvers && { resolvers: options.resolvers }),
    ...(options.capabilities && { capabilities: options.capabilities }),
    plugins: [{ name: 'kernel', hooks: { start: (given) => void (kernel = given) } }],
  };
  const remove = () => rmSync(root, { recursive: true, force: true });
  const running = await createServer(app)
    .start('127.0.0.1:0', {
      env: { DATABASE_URL: options.url, LOG_LEVEL: 'info', ...options.env },
      logTo: { write: (line) => void lines.push(line) },
      ...(options.now && { now: options.now }),
    })
    .catch((error: unknown) => {
      remove();
      throw error;
    });
  return {
    url: running.url,
    kernel: kernel!,
    ctx: systemContext(kernel!),
    lines,
    rows: (text) => kernel!.store.query(text, []),
    close: async () => {
      await running.close();
      remove();
    },
  };
}
