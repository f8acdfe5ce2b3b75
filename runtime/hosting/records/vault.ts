import type { Store } from '@twofold/runtime/kernel';
import type { Seal } from './seal.ts';

/** Sealed texts that belong to an app but are no part of its environment: a git token, a webhook's secret. */
export interface Vault {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string): Promise<void>;
  delete(key: string): Promise<void>;
}

export function createVault({ db }: Pick<Store, 'db'>, seal: Seal): Vault {
  return {
    async get(key) {
      const row = await db
        .selectFrom('hosting_settings')
        .select('value')
        .where('key', '=', key)
        .executeTakeFirst();
      return row && seal.open(row['value'], key);
    },
    async set(key, text) {
      const value = seal.seal(text, key);
      await db
        .insertInto('hosting_settings')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },
    async delete(key) {
      await db.deleteFrom('hosting_settings').where('key', '=', key).execute();
    },
  };
}

export const gitTokenKey = (appId: string) => `git:${appId}`;
export const webhookKey = (appId: string) => `webhook:${appId}`;
