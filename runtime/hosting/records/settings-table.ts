import { randomBytes } from 'node:crypto';
import type { HostingStore } from './tables.ts';
import type { Seal } from './seal.ts';
import type { IngressRecord, IngressRecords } from '../ingress/control.ts';

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

/** Encrypted texts of an app outside its environment: git's token, a webhook's secret. */
export interface Vault {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string): Promise<void>;
  delete(key: string): Promise<void>;
}

export function createVault(store: Pick<HostingStore, 'db'>, seal: Seal): Vault {
  const settings = createSettingsTable(store);
  return {
    async get(key) {
      const sealed = await settings.get(key);
      return sealed === undefined ? undefined : seal.open(sealed, key);
    },
    set: (key, text) => settings.set(key, seal.seal(text, key)),
    delete: (key) => settings.delete(key),
  };
}

export const gitTokenKey = (appId: string) => `git:${appId}`;
export const deployKeyKey = (appId: string) => `deploy-key:${appId}`;
export const webhookKey = (appId: string) => `webhook:${appId}`;

const KEY = 'ingress';

/** Stores the record of the installation's ingress in the database. */
export function createIngressRecords(
  store: Pick<HostingStore, 'db'>,
): IngressRecords & { remove(): Promise<void> } {
  const settings = createSettingsTable(store);
  return {
    async read() {
      const text = await settings.get(KEY);
      return text === undefined ? null : (JSON.parse(text) as IngressRecord);
    },
    write: (record) => settings.set(KEY, JSON.stringify(record)),
    /** After a restore on another host, whose ingress is not here. */
    remove: () => settings.delete(KEY),
  };
}

/**
 * Reads the installation's id, or creates it. When two servers start on a new database at the same
 * time, both get the same id.
 */
export async function nameInstance(
  store: Pick<HostingStore, 'db'>,
  naming: { instance: string },
): Promise<void> {
  const settings = createSettingsTable(store);
  await settings.insert('instance', randomBytes(4).toString('hex'));
  naming.instance = (await settings.get('instance')) ?? '';
}
