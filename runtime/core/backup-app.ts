import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { App } from './app.ts';
import { appliedIn, databaseOf, leftIn, rootOf } from './database-of-app.ts';
import type { MoveOptions } from './move-report.ts';
import { ownedBy } from './owned-tables.ts';
import { type BackupTable, writeMark, writeText } from './store/transfer/backup-stream.ts';
import type { RowReader } from './store/transfer/database.ts';
import type { MovedTable } from './store/transfer/moved-table.ts';
import { movedTables, openRowReader } from './store/transfer/open-rows.ts';
import { rowPrinter } from './store/transfer/row-line.ts';

export interface BackupInput {
  /** The database; that of the project's settings when absent. */
  readonly database?: string;
}

export interface BackupOptions extends MoveOptions {
  /** The stream to which the rows are written. */
  readonly channel: Writable;
}

export interface BackupReport {
  readonly tables: readonly BackupTable[];
  /** Views, functions and tables that other programs made. The backup does not contain them. */
  readonly left: readonly string[];
}

/**
 * Sends the rows of everything that a server owns, as they were at one moment, for `generator db
 * backup`. Servers may go on writing.
 *
 * @throws ConfigError when there is no such database.
 */
export async function backupApp(
  app: App,
  { database }: BackupInput,
  { channel, progress = () => {}, ...options }: BackupOptions,
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
  { channel, progress }: Required<Pick<BackupOptions, 'channel' | 'progress'>>,
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
