import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { type App, type BackupTable, type DumpReport, rootOf } from '@twofold/runtime/kernel';
import { rowPrinter, writeMark, writeText } from './backup-stream.ts';
import type { RowReader } from './database.ts';
import type { MovedTable } from './moved-table.ts';
import { movedTables, openRowReader } from './open-rows.ts';
import { appliedIn, databaseOf, leftIn, ownedBy } from './owned-tables.ts';
import type { MoveOptions } from './target.ts';

export interface BackupInput {
  /** The database; that of the project's settings when absent. */
  readonly database?: string;
}

export interface BackupStream extends Pick<MoveOptions, 'progress'> {
  /** The stream to which the rows are written. */
  readonly channel: Writable;
}

export interface BackupReport extends DumpReport {
  /** Views, functions and tables that other programs made. The backup does not contain them. */
  readonly left: readonly string[];
}

/** Sends the rows of everything that a server owns. */
export async function backupRows(
  app: App,
  { database }: BackupInput,
  { channel, progress = () => {}, ...options }: BackupStream & MoveOptions,
): Promise<BackupReport> {
  const owned = await ownedBy(app, options);
  const url = database ?? databaseOf(app, options);
  const reader = await openRowReader(url, rootOf(app), owned.schemas);
  try {
    const migrations = await appliedIn(reader);
    const { dialect } = reader;
    const created_at = new Date().toISOString();
    await writeMark(channel, { head: { version: 1, dialect, created_at, migrations } });
    const tables: BackupTable[] = [];
    let before = 0;
    for (const table of movedTables(reader, owned.tables)) {
      const sent = await sendTable(reader, table, {
        channel,
        progress: (done) => progress(before + done),
      });
      before += sent.rows;
      tables.push(sent);
    }
    await writeMark(channel, { done: true });
    return { tables, left: leftIn(reader.catalog, owned) };
  } finally {
    await reader.close();
  }
}

async function sendTable(
  reader: RowReader,
  table: MovedTable,
  { channel, progress }: Required<BackupStream>,
): Promise<BackupTable> {
  const { label: name } = table;
  const print = rowPrinter(table.columns);
  const hash = createHash('sha256');
  let rows = 0;
  await writeMark(channel, { table: name });
  for await (const batch of reader.read(table)) {
    const text = `${batch.map(print).join('\n')}\n`;
    hash.update(text);
    await writeText(channel, text);
    progress((rows += batch.length));
  }
  await writeMark(channel, { end: name, rows });
  return { name, rows, sha256: hash.digest('hex') };
}
