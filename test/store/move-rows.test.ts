import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  createWriteStream,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { buildTables } from '@twofold/schema';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkArchive } from '../../generator/db/read-archive.ts';
import { writeArchive } from '../../generator/db/write-archive.ts';
import type { App } from '../../runtime/core/app.ts';
import { openDatabase } from '../../runtime/database/open-database.ts';
import { catalogSource, readCatalog } from '../../runtime/database/catalog/read-catalog.ts';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { projectOf } from '../graphql/harness.ts';
import { databases, type TestDatabase } from './databases.ts';

const app: App = {
  project: projectOf(`
    type Query { things: [Thing!]! tags: [Tag!]! }
    scalar BigInt scalar Decimal scalar DateTime scalar Date scalar Time scalar JSON scalar Byte scalar UUID
    type Thing { id: ID! name: String! @unique big: BigInt dec: Decimal real: Float ok: Boolean at: DateTime day: Date time: Time doc: JSON bytes: Byte uid: UUID
      labels: [String!] parent: Thing tags: [Tag!]! }
    type Tag @search(fields: ["name"]) { id: ID! name: String! things: [Thing!]! }
    type Account { id: ID! balance: Int! }
  `),
};

const execute = promisify(execFile);
const json = (value: unknown) => JSON.stringify(value);

/** Values at the edges of their types, and text of several scripts. */
const THINGS = [
  {
    id: 1,
    name: 'plain',
    big: '9223372036854775807',
    dec: '0.10',
    real: 0.1,
    ok: true,
    at: '2026-01-02T03:04:05.678Z',
    day: '2026-02-28',
    time: '10:11:12.5',
    doc: json({ b: [1, 'x\n\t\\', null], a: { ü: 1.5 } }),
    bytes: Buffer.from([0, 255, 10, 92]),
    uid: '0190a0b0-0000-7000-8000-0000000000ff',
    labels: json(['a', 'b,c', '"']),
    parent_id: 900,
  },
  { id: 2, name: 'tab\tline\nback\\slash "quoted" \\N', big: '-9223372036854775808', real: 1e300 },
  { id: 3, name: 'שלום 你好 🦊 é', dec: '12345678901234567890.123456789', real: -0, ok: false },
  { id: 900, name: '', doc: json('text'), bytes: Buffer.alloc(0), labels: json([]) },
];

async function fill({ store }: TestDatabase): Promise<void> {
  await createTables(store, buildTables(app.project), app.project.ids);
  // Row by row, last first: a row may refer to a later one.
  for (const row of THINGS.toReversed()) await store.db.insertInto('things').values(row).execute();
  await store.db
    .insertInto('tags')
    .values([{ name: 'x' }, { name: 'y' }])
    .execute();
  await store.db
    .insertInto('tag_things')
    .values([
      { tag_id: 1, thing_id: 2 },
      { tag_id: 2, thing_id: 2 },
    ])
    .execute();
}

/** All rows; integers above 2^53 as text, which the driver of SQLite has no number for. */
const rowsOf = ({ store }: TestDatabase) =>
  Promise.all(
    buildTables(app.project).map(({ name, columns }) =>
      store.db
        .selectFrom(name)
        .select(
          columns.map((column) =>
            column.type === 'bigint'
              ? sql<string>`cast(${sql.ref(column.name)} as text)`.as(column.name)
              : column.name,
          ),
        )
        .orderBy(sql`1`)
        .orderBy(sql`2`)
        .execute()
        .then((rows) => rows.map((row) => ({ ...row, ...(name === 'things' && bytesIn(row)) }))),
    ),
  );

/** One driver gives a Buffer, the other a Uint8Array. */
const bytesIn = ({ bytes }: { readonly bytes?: Uint8Array | null }) => ({
  bytes: bytes ? Buffer.from(bytes).toString('hex') : bytes,
});

/** Moves 1 from an account to another, over and over, in a thread of its own. */
const TRANSFERS = `
  const { parentPort, workerData: url } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const pg = require('pg');
  const file = url.startsWith('file:') ? new DatabaseSync(url.slice(5), { timeout: 5000 }) : null;
  const client = file ? null : new pg.Client({ connectionString: url });
  const run = async (text) => (file ? file.exec(text) : client.query(text));
  let running = true;
  parentPort.once('message', () => (running = false));
  (async () => {
    if (client) await client.connect();
    let done = 0;
    for (; running; done++) {
      const change = (by, id) => 'update accounts set balance = balance + ' + by + ' where id = ' + id + ';';
      await run('begin;' + change(-1, (done % 50) + 1) + change(1, ((done * 7 + 3) % 50) + 1) + 'commit;');
      if (done === 0) parentPort.postMessage('started');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (client) await client.end();
    parentPort.postMessage(done);
  })();
`;

const folder = mkdtempSync(join(tmpdir(), 'twofold-move-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function backup(from: TestDatabase, file: string) {
  const channel = new PassThrough();
  const path = join(folder, file);
  const [report] = await Promise.all([
    openDatabase(app).backup({ database: from.url }, { channel }),
    writeArchive(channel, { out: createWriteStream(path, { mode: 0o600 }), spool: folder }),
  ]);
  return { path, report };
}

async function restore(path: string, to: TestDatabase, more: object = {}) {
  const channel = new PassThrough();
  const archive = await checkArchive(path);
  const [report] = await Promise.all([
    openDatabase(app)
      .restore({ database: to.url, ...more }, { channel })
      .finally(() => channel.destroy()),
    archive.send(channel).catch(() => {}),
  ]);
  return report;
}

const available = databases.filter(({ missing }) => missing === null);

describe.each(available)('rows of $name', ({ create: source }) => {
  let from: TestDatabase;
  const made: TestDatabase[] = [];
  beforeAll(async () => {
    from = await source();
    await fill(from);
  });
  afterEach(async () => {
    for (const database of made.splice(0)) await database.drop();
  });
  afterAll(() => from.drop());
  const target = async (create: () => Promise<TestDatabase>) => {
    const database = await create();
    made.push(database);
    return database;
  };

  it.each(available)('come back from a file on $name with every value', async ({ create }) => {
    const { path, report } = await backup(from, 'rows.tgz');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(report.tables.find(({ name }) => name === 'things')).toMatchObject({ rows: 4 });
    const to = await target(create);
    const restored = await restore(path, to);
    expect(restored.tables.filter(({ equal }) => !equal)).toEqual([]);
    expect(restored.ok).toBe(true);
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
  });

  it.each(available)(
    'are copied to $name, where keys go on above the highest',
    async ({ create }) => {
      const to = await target(create);
      const report = await openDatabase(app).copy({ from: from.url, to: to.url });
      expect(report).toMatchObject({ ok: true, left: [] });
      expect(await rowsOf(to)).toEqual(await rowsOf(from));
      const next = await to.store.db
        .insertInto('things')
        .values({ name: 'next' })
        .returning('id')
        .executeTakeFirstOrThrow();
      expect(Number(next.id)).toBe(901);
    },
  );

  it('stay as they are in a target that has some, unless they are to be replaced', async () => {
    const to = await target(source);
    await fill(to);
    await to.store.db.updateTable('tags').set({ name: 'other' }).execute();
    const { path } = await backup(from, 'again.tgz');
    await expect(restore(path, to)).rejects.toMatchObject({
      code: 'TARGET_HAS_ROWS',
      extensions: { tables: expect.arrayContaining(['things', 'tags']) },
    });
    expect(await to.store.db.selectFrom('tags').select('name').distinct().execute()).toEqual([
      { name: 'other' },
    ]);
    const confirm = to.url.replace(/^.*\//, '');
    expect((await restore(path, to, { replace: true, confirm })).ok).toBe(true);
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
  });

  it('are one moment of 500 transfers a second, which keep their sum', async () => {
    const { db } = from.store;
    await db.deleteFrom('accounts').execute();
    const ids = Array.from({ length: 50 }, (_, at) => at + 1);
    await db
      .insertInto('accounts')
      .values(ids.map((id) => ({ id, balance: 100 })))
      .execute();
    const work = new Worker(TRANSFERS, { eval: true, workerData: from.url });
    await once(work, 'message');
    for (const attempt of [1, 2, 3]) {
      const to = await target(databases[0]!.create);
      await openDatabase(app).copy({ from: from.url, to: to.url });
      const [{ sum }] = (
        await sql<{ sum: number }>`select sum(balance) as sum from accounts`.execute(to.store.db)
      ).rows as [{ sum: number }];
      expect([attempt, Number(sum)]).toEqual([attempt, 5000]);
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    work.postMessage('stop');
    const [transfers] = await once(work, 'message');
    expect(transfers).toBeGreaterThan(5);
    await db.deleteFrom('accounts').execute();
  });
});

describe('a backup', () => {
  let from: TestDatabase;
  let file: string;
  beforeAll(async () => {
    from = await databases[0]!.create();
    await fill(from);
    file = (await backup(from, 'whole.tgz')).path;
  });
  afterAll(() => from.drop());

  it('is refused with any one bit changed, cut off anywhere, or longer, before the first write', async () => {
    const bytes = readFileSync(file);
    const path = join(folder, 'changed.tgz');
    const read = (changed: Uint8Array) => {
      writeFileSync(path, changed);
      return checkArchive(path).then(
        () => 'accepted',
        ({ code }) => code as string,
      );
    };
    const found = new Set<string>();
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      found.add(await read(changed));
    }
    for (const size of [0, 1, 100, bytes.length - 1])
      found.add(await read(bytes.subarray(0, size)));
    found.add(await read(Buffer.concat([bytes, Buffer.from('x')])));
    expect([...found]).toEqual(['BACKUP_DAMAGED']);
    expect(await read(bytes)).toBe('accepted');
  });

  it('has a list of its tables with their rows and hashes, and a line of JSON for each row', async () => {
    const { head } = await checkArchive(file);
    expect(head).toMatchObject({ version: 1, dialect: 'sqlite', migrations: [] });
    expect(head.tables.map(({ name, rows }) => [name, rows])).toEqual([
      ['accounts', 0],
      ['tags', 2],
      ['things', 4],
      ['tag_things', 2],
    ]);
    const { stdout } = await execute('tar', ['-xzOf', file, 'tables/tags.jsonl']);
    expect(stdout).toBe('{"id":1,"name":"x"}\n{"id":2,"name":"y"}\n');
  });

  it('replaces no rows of a guarded database without its name', async () => {
    const to = await databases[0]!.create();
    await fill(to);
    await to.store.db.updateTable('tags').set({ name: 'other' }).execute();
    // The file is outside of the project.
    for (const confirm of [undefined, 'other.db'])
      await expect(restore(file, to, { replace: true, confirm })).rejects.toMatchObject({
        code: 'DATABASE_GUARDED',
      });
    expect(await to.store.db.selectFrom('tags').select('name').distinct().execute()).toEqual([
      { name: 'other' },
    ]);
    await to.drop();
  });

  it.skipIf(databases[1]!.missing !== null)(
    'names table, key and column of a value that the target cannot hold, and leaves the target as it was',
    async () => {
      const odd = await databases[0]!.create();
      await fill(odd);
      await odd.store.db.updateTable('things').set({ name: 'a\0b' }).where('id', '=', 2).execute();
      const to = await databases[1]!.create();
      await expect(openDatabase(app).copy({ from: odd.url, to: to.url })).rejects.toMatchObject({
        code: 'VALUE_NOT_HELD',
        extensions: { table: 'things', key: '2', column: 'name' },
      });
      await odd.store.db
        .updateTable('things')
        .set({ name: 'ab', day: 'someday' })
        .where('id', '=', 2)
        .execute();
      const { path } = await backup(odd, 'odd.tgz');
      await expect(restore(path, to)).rejects.toMatchObject({
        code: 'VALUE_NOT_HELD',
        extensions: { table: 'things', key: '2', column: 'day' },
      });
      expect((await readCatalog(catalogSource(to.store.db))).tables).toEqual([]);
      await odd.drop();
      await to.drop();
    },
  );
});
