import { joinSql, name, run, sql, type Writing } from '@twofold/runtime/data';
import { ConfigError } from '@twofold/runtime/errors';
import type { CheckedRow } from './seed-row.ts';

export const SEEDS = 'twofold_seeds';

/** Makes the table of the rows that earlier runs wrote. */
export const CREATE_SEEDS = `create table if not exists ${SEEDS} (type text not null, row_key text not null, row_id text not null, hash text not null, primary key (type, row_key))`;

/** A row that an earlier run wrote. */
export interface Seeded {
  readonly id: string;
  readonly hash: string;
}

/** Seeded rows, by type and then by identity. */
export type Ledger = ReadonlyMap<string, ReadonlyMap<string, Seeded>>;

const text = (value: string) => ({ from: 'value' as const, value, as: { type: 'text' as const } });

/**
 * Reads which rows earlier runs wrote. They are listed in a table of the same database, so that the
 * list always matches its data.
 */
export async function readLedger(writing: Writing): Promise<Ledger> {
  if (!writing.model.project.unmanaged) await run(writing, [CREATE_SEEDS]);
  else if (!(await hasSeeds(writing))) throw missing();
  const ledger = new Map<string, Map<string, Seeded>>();
  for (const row of await run(
    writing,
    sql`select type, row_key, row_id, hash from ${name(SEEDS)}`,
  )) {
    const type = String(row['type']);
    const known = ledger.get(type) ?? new Map<string, Seeded>();
    ledger.set(
      type,
      known.set(String(row['row_key']), { id: String(row['row_id']), hash: String(row['hash']) }),
    );
  }
  return ledger;
}

async function hasSeeds(writing: Writing): Promise<boolean> {
  const text = writing.dialect === 'sqlite' ? SQLITE_TABLE : POSTGRES_TABLE;
  return (await writing.query(text, [])).length > 0;
}

const SQLITE_TABLE = `select 1 from sqlite_master where type = 'table' and name = '${SEEDS}'`;
const POSTGRES_TABLE = `select 1 where to_regclass('${SEEDS}') is not null`;

const missing = () =>
  new ConfigError([
    `seed needs the table ${SEEDS}, which is not there. The database is not ours to change: run what "npx generator migrate sql" prints`,
  ]);

/** How many rows one statement records. Each row has four parameters, and SQLite allows 32,766. */
const CHUNK = 500;

/** Records the written rows for the next run. */
export async function keep(
  writing: Writing,
  written: readonly { readonly row: CheckedRow; readonly id: string }[],
): Promise<void> {
  for (let at = 0; at < written.length; at += CHUNK) {
    const rows = written
      .slice(at, at + CHUNK)
      .map(
        ({ row: { type, identity, hash }, id }) =>
          sql`(${joinSql([type, identity, id, hash].map(text), ', ')})`,
      );
    await run(
      writing,
      sql`insert into ${name(SEEDS)} (type, row_key, row_id, hash) values ${joinSql(rows, ', ')} on conflict (type, row_key) do update set row_id = excluded.row_id, hash = excluded.hash`,
    );
  }
}
