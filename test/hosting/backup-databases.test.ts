import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import catalogue from '../../runtime/hosting/templates/catalogue.json' with { type: 'json' };
import { describeEnginesAtOnce } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import type { ImageName } from '../engines/image-recipes.ts';
import { runningContainerOf } from './containers-of.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

/** Where a container of an app is. */
async function addressOf(server: TestServer, socket: string, app: string): Promise<string> {
  const { Id } = await runningContainerOf(server, socket, app);
  const detail = await engineJson<any>(socket, { path: `/containers/${Id}/json` });
  return (Object.values(detail.NetworkSettings.Networks)[0] as { IPAddress: string }).IPAddress;
}

/** A database whose template dumps it by a command. Statements are sent to its own client. */
interface OtherDatabase {
  readonly id: string;
  readonly image: ImageName;
  readonly client: string;
  readonly fill: string;
  /** Moves `$i` from one number to another: half of it would show. */
  readonly transfer: string;
  readonly numbers: string;
  readonly lose: string;
  /** A statement, and what it answers before the loss and after the restore. */
  readonly kept: readonly [statement: string, answer: string];
}

const POSTGRES = { id: 'postgres', image: 'twofold-test/postgres:1' } as const;

const OTHERS: readonly OtherDatabase[] = [
  {
    id: 'mariadb',
    image: 'twofold-test/mariadb:1',
    client: 'mariadb -uroot -p"$MARIADB_ROOT_PASSWORD" -N -B',
    fill: `CREATE TABLE app.parts (id int PRIMARY KEY, sum bigint); INSERT INTO app.parts SELECT seq, 0 FROM app.seq_1_to_2000;
      CREATE FUNCTION app.seven() RETURNS int RETURN 7; CREATE DATABASE \`second one\`;
      CREATE TABLE \`second one\`.t AS SELECT 'kept' AS word; CREATE USER clerk@'%' IDENTIFIED BY 'x';
      GRANT SELECT ON app.parts TO clerk@'%'`,
    transfer:
      'BEGIN; UPDATE app.parts SET sum = sum + $i WHERE id = 1; UPDATE app.parts SET sum = sum - $i WHERE id = 2000; COMMIT;',
    numbers: 'SELECT sum FROM app.parts WHERE id IN (1, 2000) ORDER BY id',
    lose: "DROP DATABASE app; DROP DATABASE `second one`; DROP USER clerk@'%'",
    kept: [
      `SELECT count(*), app.seven(), (SELECT word FROM \`second one\`.t) FROM app.parts; SHOW GRANTS FOR clerk@'%'`,
      "2000\t7\tkept\nGRANT USAGE ON *.* TO `clerk`@`%` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'\nGRANT SELECT ON `app`.`parts` TO `clerk`@`%`\n",
    ],
  },
  {
    id: 'redis',
    image: 'twofold-test/redis:1',
    client: 'redis-cli --no-auth-warning -a "$REDIS_PASSWORD"',
    fill: `SET 'the word' kept\nRPUSH list a b c`,
    transfer: 'MULTI\nINCRBY a $i\nDECRBY b $i\nEXEC',
    numbers: 'MGET a b',
    lose: 'FLUSHALL',
    kept: [`GET 'the word'\nLRANGE list 0 -1`, 'kept\na\nb\nc\n'],
  },
];

/** `cannot_connect_now`, see PostgreSQL's appendix "Error Codes". */
const STARTING = '57P03';

describeEnginesAtOnce('a database of a template', ({ kind, socket }) => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-databases-'));
  let server: TestServer;
  let password = '';
  const api = (method: string, path: string, body?: unknown) => server.api(method, path, body);
  const connect = async (app: string, database = 'app') => {
    const host = await addressOf(server, socket, app);
    for (let tries = 0; ; tries += 1) {
      const client = new pg.Client({ host, port: 5432, user: 'app', password, database });
      client.on('error', () => {});
      try {
        await client.connect();
        return client;
      } catch (error) {
        // A database that has just been deployed listens already while it starts.
        if ((error as { code?: string }).code !== STARTING || tries === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const query = async (app: string, sql: string, database?: string) => {
    const client = await connect(app, database);
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };

  beforeAll(async () => {
    mkdirSync(join(folder, 'templates'));
    for (const { id, image } of [...OTHERS, POSTGRES]) {
      const own = { image: await importImage(socket, image) };
      const template = catalogue.find((each) => each.id === id);
      writeFileSync(join(folder, `templates/${id}.json`), JSON.stringify({ ...template, ...own }));
    }
    server = await startServer({ socket, folder });
    const made = await api('POST', '/api/templates/postgres/deploy', { name: 'ledgerdb' });
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    password = made.body.generated.POSTGRES_PASSWORD;
  });
  afterAll(async () => {
    await server?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is dumped under load in one state, tried, and restored with roles and other databases', async () => {
    // A try before this one may have left them.
    await query('ledgerdb', 'DROP DATABASE IF EXISTS "second one" WITH (FORCE)');
    await query('ledgerdb', 'DROP TABLE IF EXISTS parts; DROP ROLE IF EXISTS clerk');
    await query(
      'ledgerdb',
      `CREATE TABLE parts (id int PRIMARY KEY, sum int); CREATE ROLE clerk LOGIN PASSWORD 'x'; ALTER TABLE parts OWNER TO clerk`,
    );
    await query('ledgerdb', 'CREATE DATABASE "second one"');
    await query('ledgerdb', `CREATE TABLE t AS SELECT 'kept' AS word`, 'second one');
    // Each transaction moves the sum between two rows: half of one would show.
    await query('ledgerdb', 'INSERT INTO parts SELECT n, 0 FROM generate_series(1, 2000) n');
    const writer = await connect('ledgerdb');
    const end = new AbortController();
    let enough = () => {};
    const some = new Promise<void>((resolve) => (enough = resolve));
    const load = (async () => {
      for (let amount = 1; !end.signal.aborted; amount += 1) {
        await writer.query('BEGIN');
        await writer.query('UPDATE parts SET sum = sum + $1 WHERE id = 1', [amount]);
        await writer.query('UPDATE parts SET sum = sum - $1 WHERE id = 2000', [amount]);
        await writer.query('COMMIT');
        if (amount === 20) enough();
      }
    })();
    await some;
    const { body } = await api('POST', '/api/apps/ledgerdb/backups?wait=true');
    end.abort();
    await load;
    await writer.end();
    expect(body).toMatchObject({ status: 'done', error: null });

    const tried = await api('POST', `/api/apps/ledgerdb/backups/${body.id}/verify?wait=true`);
    expect([tried.body.error, typeof tried.body.verified_at]).toEqual([null, 'string']);

    await query('ledgerdb', 'DROP TABLE parts');
    await query('ledgerdb', 'DROP DATABASE "second one"');
    const back = await api('POST', `/api/apps/ledgerdb/backups/${body.id}/restore?wait=true`, {
      confirm: 'ledgerdb',
    });
    expect([back.status, back.body.error]).toEqual([200, undefined]);
    const [{ rows, sum, first }] = await query(
      'ledgerdb',
      'SELECT count(*)::int AS rows, sum(sum)::int AS sum, max(sum) AS first FROM parts',
    );
    expect([rows, sum, first > 0]).toEqual([2000, 0, true]);
    expect(
      await query('ledgerdb', `SELECT tableowner FROM pg_tables WHERE tablename = 'parts'`),
    ).toEqual([{ tableowner: 'clerk' }]);
    expect(await query('ledgerdb', 'SELECT word FROM t', 'second one')).toEqual([{ word: 'kept' }]);
  });

  it.each(OTHERS)(
    'is dumped under load in one state, tried and restored: $id',
    async ({ id, client, fill, transfer, numbers, lose, kept }) => {
      const run = async (script: string, ...words: string[]) => {
        const command = ['sh', '-c', script, 'sh', ...words];
        const { body } = await api('POST', `/api/apps/${id}/exec`, { command });
        expect([body.exit_code, body.exit_code === 0 ? '' : body.stderr]).toEqual([0, '']);
        return body.stdout as string;
      };
      const ask = (statements: string) => run(`printf '%s\\n' "$1" | ${client}`, statements);
      const moved = async () => (await ask(numbers)).trim().split('\n').map(Number);
      const made = await api('POST', `/api/templates/${id}/deploy`, { name: id });
      expect([made.status, made.body.error]).toEqual([201, undefined]);
      await ask(fill);
      const loop = `i=0; while [ ! -e /tmp/stop ]; do i=$((i+1)); printf '%b\\n' "${transfer}"; sleep 0.01; done`;
      const load = run(`(${loop}) | ${client} > /dev/null`);
      await vi.waitFor(async () => expect((await moved())[0]).toBeGreaterThan(20), {
        ...{ timeout: 30_000, interval: 100 },
      });
      const { body } = await api('POST', `/api/apps/${id}/backups?wait=true`);
      await run('touch /tmp/stop');
      await load;
      expect(body).toMatchObject({ status: 'done', error: null });
      expect(await ask(kept[0])).toBe(kept[1]);

      const tried = await api('POST', `/api/apps/${id}/backups/${body.id}/verify?wait=true`);
      expect([tried.body.error, typeof tried.body.verified_at]).toEqual([null, 'string']);

      await ask(lose);
      const back = await api('POST', `/api/apps/${id}/backups/${body.id}/restore?wait=true`, {
        confirm: id,
      });
      expect([back.status, back.body.error]).toEqual([200, undefined]);
      const [first = 0, second] = await moved();
      expect([first > 20, second]).toEqual([true, -first]);
      expect(await ask(kept[0])).toBe(kept[1]);
    },
  );

  // The same on both engines, and each restore stops a database twice.
  if (kind === 'docker')
    it('says why when its dump or its restore fails, and keeps what was there', async () => {
      const good = (await api('POST', '/api/apps/ledgerdb/backups?wait=true')).body;
      const failing = [
        'sh',
        '-c',
        'echo half; echo "no such database: $POSTGRES_PASSWORD" >&2; exit 3',
      ];
      await api('PATCH', '/api/apps/ledgerdb', { backup: { dump: failing } });
      const bad = (await api('POST', '/api/apps/ledgerdb/backups?wait=true')).body;
      expect(bad).toMatchObject({
        ...{ status: 'failed', bytes: null },
        error: 'backup.dump ended with exit code 3: no such database: ********',
      });
      await api('PATCH', '/api/apps/ledgerdb', {
        backup: { restore: ['sh', '-c', 'cat > /dev/null; exit 4'] },
      });
      const tried = await api('POST', `/api/apps/ledgerdb/backups/${good.id}/verify?wait=true`);
      expect(tried.body.error).toBe('backup.restore ended with exit code 4');
      const back = await api('POST', `/api/apps/ledgerdb/backups/${good.id}/restore?wait=true`, {
        confirm: 'ledgerdb',
      });
      expect([back.status, back.body.error]).toEqual([
        502,
        'backup.restore ended with exit code 4',
      ]);
      expect(await query('ledgerdb', 'SELECT count(*)::int AS rows FROM parts')).toEqual([
        { rows: 2000 },
      ]);
      const empty = { dump: null, restore: null };
      expect((await api('PATCH', '/api/apps/ledgerdb', { backup: { dump: null } })).status).toBe(
        400,
      );
      expect((await api('PATCH', '/api/apps/ledgerdb', { backup: empty })).status).toBe(200);
    });
});
