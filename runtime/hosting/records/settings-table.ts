import type { HostingStore } from './tables.ts';

/** Texts by key, in a table that all servers of an installation share. */
export interface SettingsTable {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Writes only if the key does not exist. @returns whether it wrote. */
  insert(key: string, value: string): Promise<boolean>;
  /**
   * Writes only if the current value is `before`, so that only one of several servers succeeds.
   * @returns whether it wrote.
   */
  replace(key: string, before: string, value: string): Promise<boolean>;
  /** Deletes the key; with `value`, only if this is its current value. */
  delete(key: string, value?: string): Promise<void>;
}

const TABLE = 'hosting_settings';

export function createSettingsTable({ db }: Pick<HostingStore, 'db'>): SettingsTable {
  return {
    async get(key) {
      const query = db.selectFrom(TABLE).select('value').where('key', '=', key);
      return (await query.executeTakeFirst())?.value;
    },
    async set(key, value) {
      await db
        .insertInto(TABLE)
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },
    async insert(key, value) {
      const written = await db
        .insertInto(TABLE)
        .values({ key, value })
        .onConflict((conflict) => conflict.doNothing())
        .returning('key')
        .executeTakeFirst();
      return written !== undefined;
    },
    async replace(key, before, value) {
      const written = await db
        .updateTable(TABLE)
        .set({ value })
        .where('key', '=', key)
        .where('value', '=', before)
        .returning('key')
        .executeTakeFirst();
      return written !== undefined;
    },
    async delete(key, value) {
      const rows = db.deleteFrom(TABLE).where('key', '=', key);
      await (value === undefined ? rows : rows.where('value', '=', value)).execute();
    },
  };
}
