import type { Store } from '@twofold/runtime/kernel';
import type { IngressRecord, IngressRecords } from '../ingress/record.ts';

const KEY = 'ingress';

/** The ingress of the installation, in the database that its servers share. */
export function createIngressRecords({ db }: Pick<Store, 'db'>): IngressRecords {
  return {
    async read() {
      const row = await db
        .selectFrom('hosting_settings')
        .select('value')
        .where('key', '=', KEY)
        .executeTakeFirst();
      return row ? (JSON.parse(row['value']) as IngressRecord) : null;
    },
    async write(record) {
      const value = JSON.stringify(record);
      await db
        .insertInto('hosting_settings')
        .values({ key: KEY, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },
  };
}
