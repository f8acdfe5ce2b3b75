import type { HostingStore } from './tables.ts';
import type { IngressRecord, IngressRecords } from '../ingress/record.ts';
import { createSettingsTable } from './settings-table.ts';

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
