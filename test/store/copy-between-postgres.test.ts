import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { moveRows } from '../../runtime/database/transfer/move-rows.ts';
import {
  movedTables,
  openRowReader,
  openRowWriter,
  tableRows,
} from '../../runtime/database/transfer/open-rows.ts';
import { lostConnection } from '../../runtime/core/store/unreachable.ts';
import { describeWith } from '../engines/available.ts';

const TABLE = 'create table people (id integer primary key, name text, tags text[])';

describeWith('postgres', 'rows between two databases of PostgreSQL that differ', () => {
  const admin = process.env['TEST_POSTGRES_URL']!;
  const suffix = randomBytes(6).toString('hex');
  const [source, target] = [`latin_${suffix}`, `utf_${suffix}`];
  const urlOf = (name: string) => Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  const sql = async (url: string, ...texts: string[]) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      let rows: any[] = [];
      for (const text of texts) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  };
  beforeAll(async () => {
    await sql(
      admin,
      `create database ${source} encoding 'LATIN1' locale 'C' template template0`,
      `create database ${target} encoding 'UTF8' locale 'C' template template0`,
      `alter database ${target} set array_nulls = off`,
    );
    await sql(urlOf(target), TABLE);
    await sql(
      urlOf(source),
      TABLE,
      `insert into people values (1, 'Zoë', '{a,NULL}'), (2, 'ß\\', '{}')`,
    );
  });
  afterAll(() =>
    sql(
      admin,
      `drop database if exists ${source} with (force)`,
      `drop database if exists ${target} with (force)`,
    ),
  );

  it('arrive as they were, whatever the encoding and the settings of either', async () => {
    const names = new Set(['people']);
    const reader = await openRowReader(urlOf(source), '.');
    const writer = await openRowWriter(urlOf(target), '.', { managed: true });
    try {
      const sources = movedTables(reader, names).map((table) => tableRows(reader, table));
      const moved = await moveRows(writer, {
        sources: (async function* () {
          yield* sources;
        })(),
        targets: movedTables(writer, names),
      });
      expect(moved).toEqual([{ name: 'people', rows: 2, equal: true }]);
      await writer.commit();
    } finally {
      await Promise.all([reader.close(), writer.close()]);
    }
    const rows = 'select id, name, tags from people order by id';
    expect(await sql(urlOf(target), rows)).toEqual(await sql(urlOf(source), rows));
  });

  it('are explained when the database ends the connection in the middle', async () => {
    const client = new pg.Client(urlOf(target));
    client.on('error', () => {});
    await client.connect();
    for (const text of ['select pg_terminate_backend(pg_backend_pid())', 'select 1']) {
      const error = await client.query(text).catch((caught: unknown) => caught);
      expect(lostConnection(error)?.message).toMatch(/no rows were written: run it again/);
    }
    expect(lostConnection(new Error('disk full'))).toBeUndefined();
  });
});
