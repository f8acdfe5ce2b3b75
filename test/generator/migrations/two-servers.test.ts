import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { starters } from '../../../templates/starter/index.ts';
import { databases, type TestDatabase } from '../../store/databases.ts';
import { generator, linkPackages, makeProject, type TestProject } from '../project.ts';

/** Slow enough that every server is up before the first has migrated, and visible if it ran twice. */
const SLOW = `import { type Kysely, sql } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  await new Promise((done) => setTimeout(done, 1500));
  await sql\`insert into users (name, email) values ('migration', 'once' || (select count(*) from users) || '@example.test')\`.execute(db);
}

export async function down(): Promise<void> {}
`;

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `servers that start at once on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      let project: TestProject | undefined;
      let database: TestDatabase | undefined;
      const children: ChildProcess[] = [];
      afterEach(async () => {
        await Promise.all(children.splice(0).map(stop));
        project?.remove();
        await database?.drop();
      });

      test('migrate once: one does it, the others wait, and all of them answer', async () => {
        project = makeProject({
          'schema.graphql': starters.starter.schema,
          'manifest.yaml': 'name: shop\n',
        });
        database = await create();
        linkPackages(project);
        await generator(['generate'], project.root);
        project.write('migrations/0002_slow.ts', SLOW);
        const servers = Array.from({ length: 3 }, () =>
          start(project!.root, {
            DATABASE_URL: database!.url,
            PORT: '0',
            MIGRATE: 'on',
            NODE_ENV: 'production',
          }),
        );
        children.push(...servers.map(({ child }) => child));
        const urls = await Promise.all(servers.map(({ listening }) => listening));
        for (const url of urls) {
          const response = await fetch(`${url}/graphql`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: '{"query":"{ users { name email } }"}',
          });
          expect(await response.json()).toEqual({
            data: { users: [{ name: 'migration', email: 'once0@example.test' }] },
          });
        }
        const migrated = servers.flatMap(({ output }) =>
          [...output().matchAll(/migrated: ([\w, ]+)/g)].map(([, names]) => names),
        );
        expect(migrated.join(', ').split(', ').sort()).toEqual(['0001_init', '0002_slow']);
        expect(
          await database.store.db
            .selectFrom('twofold_migrations')
            .select('name')
            .orderBy('name')
            .execute(),
        ).toEqual([{ name: '0001_init' }, { name: '0002_slow' }, { name: 'server/production' }]);
      });
    },
  );
}

interface Server {
  readonly child: ChildProcess;
  readonly listening: Promise<string>;
  output(): string;
}

function start(cwd: string, settings: NodeJS.ProcessEnv): Server {
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const listening = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const url = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (url) resolve(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${text}`)));
  });
  listening.catch(() => {});
  return { child, listening, output: () => text };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await ended;
}
