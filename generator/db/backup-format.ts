/**
 * The content of `backup.json`. The runtime declares it too (`backup-stream.ts`), because the command
 * line and the runtime of a project are two processes and may be of two versions.
 */
export interface BackupHead {
  readonly version: 1;
  readonly dialect: string;
  readonly created_at: string;
  readonly migrations: readonly string[];
  readonly tables: readonly BackupTable[];
}

export interface BackupTable {
  readonly name: string;
  readonly rows: number;
  /** Of the file of the table. */
  readonly sha256: string;
}

export const HEAD_FILE = 'backup.json';

/** The file of a table within the archive. */
export const fileOf = (table: string): string =>
  `tables/${table.replaceAll('%', '%25').replaceAll('/', '%2F')}.jsonl`;
