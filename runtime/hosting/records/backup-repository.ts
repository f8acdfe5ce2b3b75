import { failure } from '@twofold/runtime/errors';
import type { HostingStore, RowOf } from './tables.ts';

export interface BackupRepository {
  insert(backup: StoredBackup): Promise<void>;
  update(id: string, change: Partial<StoredBackup>): Promise<void>;
  /** @throws AppError 404 when the app has no such backup. */
  get(app: string | null, id: string): Promise<StoredBackup>;
  /** Newest first. */
  list(app: string | null): Promise<readonly StoredBackup[]>;
  running(): Promise<readonly StoredBackup[]>;
  usesTarget(target: string): Promise<boolean>;
  remove(id: string): Promise<void>;
}

const TABLE = 'hosting_backups';

export function createBackupRepository({ db }: Pick<HostingStore, 'db'>): BackupRepository {
  const all = () => db.selectFrom(TABLE).selectAll();
  const ofApp = (app: string | null) =>
    app === null ? all().where('app', 'is', null) : all().where('app', '=', app);
  return {
    insert: async (backup) => void (await db.insertInto(TABLE).values(backup).execute()),
    update: async (id, change) =>
      void (await db.updateTable(TABLE).set(change).where('id', '=', id).execute()),
    async get(app, id) {
      const row = await ofApp(app).where('id', '=', id).executeTakeFirst();
      if (row) return row;
      throw failure.notFound('Backup not found');
    },
    list: (app) => ofApp(app).orderBy('started_at', 'desc').orderBy('id', 'desc').execute(),
    running: () => all().where('status', '=', 'running').execute(),
    async usesTarget(target) {
      const row = await all().where('target', '=', target).limit(1).executeTakeFirst();
      return row !== undefined;
    },
    remove: async (id) => void (await db.deleteFrom(TABLE).where('id', '=', id).execute()),
  };
}

/** A backup as it is stored. `app` is null for one of the server itself. */
export type StoredBackup = Readonly<RowOf<typeof TABLE>>;

/** A backup as the API shows it, without the columns that are only for the server. */
export function showBackup(backup: StoredBackup): Omit<StoredBackup, 'object' | 'attempt'> {
  const { object: _object, attempt: _attempt, ...shown } = backup;
  return shown;
}
