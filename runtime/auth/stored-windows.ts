import type { KeyObject } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Store } from '@twofold/runtime/kernel';
import { mac } from './keys.ts';
import type { Charge, Windows, WindowState } from './sliding-window.ts';

/**
 * Sliding windows in the database, so that every limit holds over all servers that share it: one statement on
 * PostgreSQL, one immediate transaction on SQLite. A key is stored as its HMAC: no table lists who came when.
 */
export function storedWindows(store: Store, hmac: KeyObject): Windows {
  const windows = store.dialect === 'postgres' ? postgresWindows(store) : sqliteWindows(store);
  const hidden = (charges: readonly Charge[]) =>
    charges.map((charge) => ({ ...charge, key: mac(hmac, charge.key) }));
  return {
    consume: (charges, now) => windows.consume(hidden(charges), now),
    refund: async (charges, at) => {
      if (charges.length > 0) await windows.refund(hidden(charges), at);
    },
  };
}

/** A row of `auth_consume`, the function that the migration makes. */
interface Consumed {
  readonly accepted: boolean;
  readonly used: number;
  readonly oldest: number | null;
}

const TAKE_BACK = `update auth_limit_windows set hits = hits[:array_position(hits, $2) - 1] || hits[array_position(hits, $2) + 1:]
  where key = any($1::text[]) and array_position(hits, $2) is not null`;

function postgresWindows(store: Store): Windows {
  return {
    consume: async (charges, now) => {
      const columns = [
        charges.map(({ key }) => key),
        charges.map(({ limit }) => limit),
        charges.map(({ window }) => window),
        charges.map(({ peek = false }) => peek),
      ];
      const rows = await store.query<Consumed>(
        'select * from auth_consume($1::text[], $2::integer[], $3::bigint[], $4::boolean[], $5::bigint)',
        [...columns, now],
      );
      return charges.map(({ limit, window }, index) => {
        const { accepted, used, oldest } = rows[index]!;
        return {
          accepted,
          remaining: limit - used,
          resetIn: oldest === null ? 0 : Math.max(0, oldest + window - now),
        };
      });
    },
    refund: async (charges, at) =>
      void (await store.query(TAKE_BACK, [charges.map(({ key }) => key), at])),
  };
}

function sqliteWindows(store: Store): Windows {
  return {
    consume: (charges, now) =>
      store.transaction(async (trx) => {
        const kept = await readWindows(trx, charges, now);
        const fits = (charge: Charge) => kept.get(charge.key)!.length < charge.limit;
        const all = charges.every(fits);
        const states = charges.map((charge) =>
          stateOf(charge, kept.get(charge.key)!, now, fits(charge), all && !charge.peek),
        );
        if (all)
          await writeWindows(
            trx,
            charges.filter(({ peek }) => !peek),
            kept,
            now,
          );
        return states;
      }),
    refund: (charges, at) =>
      store.transaction(async (trx) => {
        const kept = await readWindows(trx, charges, at);
        for (const { key } of charges) {
          const hits = kept.get(key)!;
          const index = hits.lastIndexOf(at);
          if (index >= 0)
            await trx
              .updateTable('auth_limit_windows')
              .set({ hits: JSON.stringify(hits.toSpliced(index, 1)) })
              .where('key', '=', key)
              .execute();
        }
      }),
  };
}

async function readWindows(
  trx: Transaction<any>,
  charges: readonly Charge[],
  now: number,
): Promise<Map<string, number[]>> {
  const keys = charges.map(({ key }) => key);
  const rows = await trx
    .selectFrom('auth_limit_windows')
    .select(['key', 'hits'])
    .where('key', 'in', keys)
    .execute();
  const stored = new Map(
    rows.map(({ key, hits }) => [key as string, JSON.parse(hits) as number[]]),
  );
  return new Map(
    charges.map(({ key, window }) => [
      key,
      (stored.get(key) ?? []).filter((hit) => hit > now - window),
    ]),
  );
}

async function writeWindows(
  trx: Transaction<any>,
  charges: readonly Charge[],
  kept: ReadonlyMap<string, number[]>,
  now: number,
): Promise<void> {
  if (charges.length === 0) return;
  const rows = charges.map(({ key, window }) => ({
    key,
    hits: JSON.stringify([...kept.get(key)!, now]),
    expires_at: now + window,
  }));
  await trx
    .insertInto('auth_limit_windows')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((set) => ({
        hits: set.ref('excluded.hits'),
        expires_at: set.ref('excluded.expires_at'),
      })),
    )
    .execute();
}

function stateOf(
  { limit, window }: Charge,
  hits: readonly number[],
  now: number,
  accepted: boolean,
  charged: boolean,
): WindowState {
  const oldest = hits[0] ?? (charged ? now : undefined);
  return {
    accepted,
    remaining: limit - hits.length - (charged ? 1 : 0),
    resetIn: oldest === undefined ? 0 : Math.max(0, oldest + window - now),
  };
}
