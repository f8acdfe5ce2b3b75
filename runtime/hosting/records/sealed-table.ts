import type { Seal } from './seal.ts';
import type { HostingStore } from './tables.ts';

/** Values by their names, of which the database has only sealed texts. */
export interface SealedTable<Value> {
  /** Sorted by name. */
  all(): Promise<{ readonly name: string; readonly value: Value }[]>;
  find(name: string): Promise<Value | undefined>;
  save(name: string, value: Value): Promise<void>;
  /** @returns whether there was one. */
  remove(name: string): Promise<boolean>;
}

/** @param about what a text is sealed for, before the name of its row. */
export function createSealedTable<Value>(
  { db }: Pick<HostingStore, 'db'>,
  seal: Seal,
  table: 'hosting_notifications' | 'hosting_backup_targets',
  about: string,
): SealedTable<Value> {
  const rows = () => db.selectFrom(table).select(['name', 'sealed']);
  const open = (name: string, sealed: string): Value =>
    JSON.parse(seal.open(sealed, `${about}:${name}`));
  return {
    async all() {
      const found = await rows().orderBy('name').execute();
      return found.map(({ name, sealed }) => ({ name, value: open(name, sealed) }));
    },
    async find(name) {
      const row = await rows().where('name', '=', name).executeTakeFirst();
      return row && open(name, row.sealed);
    },
    async save(name, value) {
      const sealed = seal.seal(JSON.stringify(value), `${about}:${name}`);
      await db
        .insertInto(table)
        .values({ name, sealed })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
        .execute();
    },
    async remove(name) {
      const query = db.deleteFrom(table).where('name', '=', name).returning('name');
      return (await query.executeTakeFirst()) !== undefined;
    },
  };
}
