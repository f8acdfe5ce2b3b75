import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, it, TestRunner } from 'vitest';
import { services } from './services.ts';
import type { ServiceName } from './services.ts';

/** A running container engine. */
export interface TestEngine {
  readonly kind: 'docker' | 'podman';
  /** Path of its Unix socket. */
  readonly socket: string;
}

/** Superuser's address of a PostgreSQL server to make databases on, or undefined. */
export const postgresUrl: string | undefined = process.env.TEST_POSTGRES_URL;

/** Path of a Chromium, or undefined. */
export const chromium: string | undefined = process.env.TEST_CHROMIUM;

/** The engines that run, none to two. */
export const engines: readonly TestEngine[] = (['docker', 'podman'] as const).flatMap((kind) => {
  const socket = process.env[services[kind].variable];
  return socket ? [{ kind, socket }] : [];
});

/**
 * A suite that needs a real service. Without the service it is skipped with one line that says how to get it;
 * in CI, where everything has to run, it fails with that line.
 *
 * @example
 * describeWith('postgres', 'locks', () => { it('are released with the connection', …); });
 */
export function describeWith(service: ServiceName, name: string, body: () => void): void {
  if (process.env[services[service].variable]) describe(name, body);
  else describe(name, () => reportMissing(service));
}

/**
 * A suite that runs once for each container engine.
 *
 * @example
 * describeEachEngine('an app', ({ kind, socket }) => { it('starts', …); });
 */
export function describeEachEngine(name: string, body: (engine: TestEngine) => void): void {
  for (const kind of ['docker', 'podman'] as const) {
    const socket = process.env[services[kind].variable];
    describeWith(kind, `${name} on ${services[kind].title}`, () =>
      body({ kind, socket: socket ?? '' }),
    );
  }
}

/**
 * As `describeEachEngine`, with both engines at once: for files that wait most of the time. Polls of their tests take
 * `expect` from the context of the test, as the global one does not know which of two running tests asks.
 *
 * @example
 * describeEnginesAtOnce('an app', ({ socket }) => { it('starts', async ({ expect }) => { await expect.poll(…); }); });
 */
export function describeEnginesAtOnce(name: string, body: (engine: TestEngine) => void): void {
  const inTurn = (engine: TestEngine) =>
    describe('in turn', { concurrent: false }, () => body(engine));
  describe('both engines', { concurrent: true }, () => describeEachEngine(name, inTurn));
}

/** A database that one test has for itself. */
export interface TestDatabase {
  readonly url: string;
  /** Deletes it, also when connections are still open. */
  readonly drop: () => Promise<void>;
}

/**
 * Makes an empty database.
 *
 * @example
 * const { url, drop } = await createDatabase();
 */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // The usual strategy writes each page to the log, which takes twice as long.
  await asSuperuser(`CREATE DATABASE ${name} STRATEGY file_copy`);
  const url = new URL(postgresUrl ?? '');
  url.pathname = `/${name}`;
  // To run tests through a pooler: the host and port of one that leads to this PostgreSQL.
  url.host = process.env['TEST_POOLER'] ?? url.host;
  return { url: url.href, drop: () => asSuperuser(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/**
 * Skips the rest of a test without its service; in CI, where everything has to run, it fails.
 *
 * @example
 * it('locks a row', async () => { needs('postgres'); … });
 */
export function needs(service: ServiceName): void {
  if (process.env[services[service].variable]) return;
  const advice = `no ${services[service].title}; start one with: eval "$(npx node test/engines/start.ts)"`;
  if (isCi()) throw new Error(`${advice}. In CI nothing is skipped.`);
  TestRunner.getCurrentTest()?.context.skip(advice);
}

function reportMissing(service: ServiceName): void {
  it(`needs ${services[service].title}`, () => needs(service));
}

function isCi(): boolean {
  return Boolean(process.env.CI) && process.env.CI !== 'false';
}

async function asSuperuser(statement: string): Promise<void> {
  if (!postgresUrl)
    throw new Error(
      'no PostgreSQL: TEST_POSTGRES_URL is not set; run: eval "$(npx node test/engines/start.ts)"',
    );
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
