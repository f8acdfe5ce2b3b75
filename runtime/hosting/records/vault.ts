import type { HostingStore } from './tables.ts';
import type { Seal } from './seal.ts';
import { createSettingsTable } from './settings-table.ts';

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
