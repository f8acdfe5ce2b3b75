import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharedReads, type SharedReads } from '../../runtime/core/store/sqlite/shared-reads.ts';
import {
  openSqlite,
  type SqliteConnection,
} from '../../runtime/core/store/sqlite/sqlite-connection.ts';

describe('reads of one tick of the event loop', () => {
  let folder: string;
  let reader: SqliteConnection;
  let other: SqliteConnection;
  let statements: string[];
  let reads: SharedReads;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'twofold-shared-'));
    const file = join(folder, 'app.db');
    other = openSqlite(file);
    other.exec(
      'create table counts (id integer primary key, n integer not null); insert into counts values (1, 0);',
    );
    reader = openSqlite(file);
    statements = [];
    const run: SqliteConnection['run'] = (sql, parameters) => (
      statements.push(sql),
      reader.run(sql, parameters)
    );
    reads = sharedReads({ ...reader, run });
  });
  afterEach(() => {
    reads.renew();
    reader.close();
    other.close();
    rmSync(folder, { recursive: true });
  });

  const n = () => reads.value('select n from counts where id = ?', [1]);
  const write = (value: number) => void other.run('update counts set n = ?', [value]);

  it('see one state of the database and take its lock once', async () => {
    reads.together();
    reads.together();
    expect(n()).toBe(0);
    write(1);
    expect([n(), n()]).toEqual([0, 0]);
    await nextTick();
    await nextTick();
    expect(statements).toEqual(['begin', 'commit']);
    expect(reader.inTransaction()).toBe(false);
    reads.together();
    expect(n()).toBe(1);
  });

  it('see what this process has written since', () => {
    reads.together();
    expect(n()).toBe(0);
    reads.renew();
    write(2);
    expect(n()).toBe(2);
  });

  it('without parameters are asked once in a state, and anew in the next one', async () => {
    const asked: string[] = [];
    const own = sharedReads({
      ...reader,
      value: (sql, parameters) => (asked.push(sql), reader.value(sql, parameters)),
    });
    const version = () => own.value('pragma data_version', []);
    own.together();
    const first = version();
    write(7);
    expect([version(), asked.length]).toEqual([first, 1]);
    own.renew();
    const second = version();
    expect([second === first, asked.length]).toEqual([false, 2]);
    await nextTick();
    await nextTick();
    write(8);
    own.together();
    expect(version()).not.toBe(second);
    own.renew();
    // Outside of a tick nothing is kept.
    await nextTick();
    expect([version(), version(), asked.length > 4]).toEqual([
      expect.anything(),
      expect.anything(),
      true,
    ]);
  });

  it('are on their own where no request has come in', () => {
    expect(n()).toBe(0);
    write(3);
    expect([n(), statements]).toEqual([3, []]);
  });

  it('take a new state after two hundred, however long the turn is', () => {
    reads.together();
    expect(n()).toBe(0);
    write(4);
    const seen = Array.from({ length: 250 }, n);
    expect([seen.indexOf(4), seen.at(-1)]).toEqual([199, 4]);
  });

  it('leave nothing open when none of them was asked for', async () => {
    reads.together();
    await nextTick();
    await nextTick();
    expect(statements).toEqual([]);
  });
});
