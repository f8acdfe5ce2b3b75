import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMutex, type Mutex } from '../../runtime/core/store/transactions/semaphore.ts';
import { sharedWrites, type SharedWrites } from '../../runtime/core/store/sqlite/shared-writes.ts';
import { sqliteStore } from '../../runtime/core/store/sqlite/sqlite-store.ts';
import {
  openSqlite,
  type SqliteConnection,
} from '../../runtime/core/store/sqlite/sqlite-connection.ts';

const INSERT = 'insert into notes (id, text) values (?, ?) returning id';

describe('writes of one turn of the event loop', () => {
  let folder: string;
  let writer: SqliteConnection;
  let other: SqliteConnection;
  let mutex: Mutex;
  let writes: SharedWrites;
  let controls: string[];
  let broken: string | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'twofold-writes-'));
    const file = join(folder, 'app.db');
    writer = openSqlite(file);
    writer.exec('create table notes (id integer primary key, text varchar not null)');
    other = openSqlite(file);
    mutex = createMutex();
    controls = [];
    broken = undefined;
    const run: SqliteConnection['run'] = (sql, parameters) => {
      if (!sql.startsWith('insert')) controls.push(sql);
      if (sql === broken) throw new TypeError('the disk is full');
      return writer.run(sql, parameters);
    };
    writes = sharedWrites({ ...writer, run }, mutex);
  });
  afterEach(() => {
    writes.flush();
    writer.close();
    other.close();
    rmSync(folder, { recursive: true });
  });

  const seen = () => other.run('select id from notes order by id', []).rows.map(({ id }) => id);

  it('share a transaction, and nobody is told before it is committed', async () => {
    const told: unknown[] = [];
    const asked = [1, 2, 3].map((id) =>
      writes.write(INSERT, [id, 'x'])?.then((rows) => told.push(rows[0]?.['id'])),
    );
    expect([controls, seen(), mutex.held]).toEqual([['begin immediate'], [], true]);
    await Promise.resolve();
    expect(told).toEqual([]);
    await Promise.all(asked);
    expect([told, controls, seen(), mutex.held]).toEqual([
      [1, 2, 3],
      ['begin immediate', 'commit'],
      [1, 2, 3],
      false,
    ]);
  });

  it('are undone one by one when they fail', async () => {
    const first = writes.write(INSERT, [1, 'x']);
    expect(() => writes.write(INSERT, [1, 'again'])).toThrow(/unique/i);
    expect(() => writes.write(INSERT, [2, null])).toThrow(/not null/i);
    const last = writes.write(INSERT, [3, 'x']);
    await Promise.all([first, last]);
    expect(seen()).toEqual([1, 3]);
  });

  it('fail together when the commit fails, and leave nothing', async () => {
    broken = 'commit';
    const asked = [1, 2].map((id) => writes.write(INSERT, [id, 'x']) as Promise<unknown>);
    const outcomes = await Promise.allSettled(asked);
    expect(
      outcomes.map((outcome) =>
        outcome.status === 'rejected' ? String(outcome.reason) : outcome.status,
      ),
    ).toEqual(['TypeError: the disk is full', 'TypeError: the disk is full']);
    expect([seen(), mutex.held, writer.inTransaction()]).toEqual([[], false, false]);
    broken = undefined;
    await writes.write(INSERT, [3, 'x']);
    expect(seen()).toEqual([3]);
  });

  it('fail together when the database gave the transaction up', async () => {
    const first = writes.write(INSERT, [1, 'x']) as Promise<unknown>;
    const outcome = first.then(
      () => 'told',
      (error: Error) => error.message,
    );
    writer.run('rollback', []);
    expect(() => writes.write('insert into nowhere values (?)', [1])).toThrow('no such table');
    expect([await outcome, seen(), mutex.held]).toEqual(['no such table: nowhere', [], false]);
  });

  it('wait for a transaction of somebody else, and let the next one in', async () => {
    const release = await mutex.acquire();
    expect(writes.write(INSERT, [1, 'x'])).toBeUndefined();
    release();
    const written = writes.write(INSERT, [2, 'x']);
    const next = mutex.acquire().then((let_go) => (let_go(), seen()));
    await written;
    expect(await next).toEqual([2]);
  });

  describe('and short transactions among them', () => {
    const insert = (id: number, text: string | null = 'x') => writer.run(INSERT, [id, text]);

    it('share the commit, each in a savepoint', async () => {
      const told: string[] = [];
      const one = writes.transaction(async () => void insert(1)).then(() => told.push('one'));
      await Promise.resolve();
      const two = writes.transaction(async () => void insert(2)).then(() => told.push('two'));
      await Promise.resolve();
      expect([told, seen()]).toEqual([[], []]);
      await Promise.all([one, two]);
      expect(controls.filter((sql) => /^(begin|commit)/.test(sql))).toEqual([
        'begin immediate',
        'commit',
      ]);
      expect([seen(), mutex.held]).toEqual([[1, 2], false]);
    });

    it('are undone alone by a throw', async () => {
      const kept = [writes.write(INSERT, [1, 'x']), writes.transaction(async () => void insert(2))];
      const failed = writes.transaction(async () => {
        insert(3);
        throw new TypeError('no');
      });
      const last = writes.transaction(async () => void insert(4));
      await expect(failed).rejects.toThrow('no');
      await Promise.all([...kept, last]);
      expect(seen()).toEqual([1, 2, 4]);
    });

    it('keep out single writes while they run, which their rollback would undo', async () => {
      const gate = Promise.withResolvers<void>();
      const open = writes.transaction(async () => {
        insert(1);
        await gate.promise;
        throw new TypeError('no');
      });
      await Promise.resolve();
      expect(writes.write(INSERT, [2, 'x'])).toBeUndefined();
      gate.resolve();
      await expect(open).rejects.toThrow('no');
      await writes.write(INSERT, [3, 'x']);
      expect(seen()).toEqual([3]);
    });

    it('are committed at their end when they outlast the turn', async () => {
      const first = writes.transaction(async () => void insert(1));
      const slow = writes.transaction(async () => {
        insert(2);
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(seen()).toEqual([]);
      });
      await Promise.all([first, slow]);
      expect([seen(), mutex.held]).toEqual([[1, 2], false]);
    });

    it('fail together when the commit fails or the database gives up', async () => {
      broken = 'commit';
      const asked = [1, 2].map((id) => writes.transaction(async () => void insert(id)));
      const outcomes = await Promise.allSettled(asked);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      broken = undefined;
      const lost = writes.transaction(async () => void insert(3));
      const giver = writes.transaction(async () => void writer.run('rollback', []));
      const [first, second] = await Promise.allSettled([lost, giver]);
      expect([first.status, second.status, seen(), mutex.held]).toEqual([
        'rejected',
        'rejected',
        [],
        false,
      ]);
    });
  });

  it('are committed in parts when a turn brings very many', async () => {
    await Promise.all(Array.from({ length: 450 }, (_, id) => writes.write(INSERT, [id, 'x'])));
    expect(controls.filter((sql) => sql === 'commit')).toHaveLength(3);
    expect(seen()).toHaveLength(450);
  });

  it('fail when they cannot begin, and hold nobody up', async () => {
    broken = 'begin immediate';
    expect(() => writes.write(INSERT, [1, 'x'])).toThrow('the disk is full');
    expect(mutex.held).toBe(false);
  });
});

describe('a store that is closed', () => {
  it('commits what it has said nothing of yet', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-writes-'));
    const store = sqliteStore(join(folder, 'app.db'));
    await store.query('create table notes (id integer primary key, text varchar not null)', []);
    const written = store.writeOne?.(INSERT, [1, 'x']);
    await store.close();
    expect(await written).toMatchObject([{ id: 1 }]);
    const again = sqliteStore(join(folder, 'app.db'));
    expect(await again.query('select id from notes', [])).toMatchObject([{ id: 1 }]);
    await again.close();
    rmSync(folder, { recursive: true });
  });

  it('reads what was written with others at once, in this process and in memory', async () => {
    const store = sqliteStore(':memory:');
    await store.query('create table notes (id integer primary key, text varchar not null)', []);
    const written = store.writeOne?.(INSERT, [1, 'x']);
    expect(await store.query('select id from notes', [])).toMatchObject([{ id: 1 }]);
    await written;
    await store.close();
  });
});
