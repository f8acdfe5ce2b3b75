import type { Store } from '@twofold/runtime/kernel';
import type { Seal } from '../records/seal.ts';
import type { Receiver } from './receiver.ts';

/** The receivers, sorted by name. They are stored encrypted, because addresses contain tokens. */
export interface ReceiverRepository {
  all(): Promise<Receiver[]>;
  find(name: string): Promise<Receiver | undefined>;
  save(receiver: Receiver): Promise<void>;
  /** @returns whether there was one. */
  remove(name: string): Promise<boolean>;
}

const TABLE = 'hosting_notifications';

export function createReceiverRepository(
  { db }: Pick<Store, 'db'>,
  seal: Seal,
): ReceiverRepository {
  const rows = () => db.selectFrom(TABLE).selectAll();
  const open = ({ name, sealed }: Record<string, unknown>) =>
    JSON.parse(seal.open(String(sealed), aboutReceiver(String(name)))) as Receiver;
  return {
    all: async () => (await rows().orderBy('name').execute()).map(open),
    async find(name) {
      const row = await rows().where('name', '=', name).executeTakeFirst();
      return row && open(row);
    },
    async save(receiver) {
      const { name } = receiver;
      const sealed = seal.seal(JSON.stringify(receiver), aboutReceiver(name));
      await db
        .insertInto(TABLE)
        .values({ name, sealed })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
        .execute();
    },
    async remove(name) {
      const [removed] = await db.deleteFrom(TABLE).where('name', '=', name).execute();
      return Number(removed?.numDeletedRows ?? 0) > 0;
    },
  };
}

const aboutReceiver = (name: string) => `notification:${name}`;
