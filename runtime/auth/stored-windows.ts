import type { KeyObject } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Store } from '../store/store.ts';
import { mac } from './keys.ts';
import type { Charge, Windows, WindowState } from './sliding-window.ts';

/**
 * Sliding windows in the database, so that every limit holds over all servers that share it. Rows are locked in the
 * order of their keys: two requests that charge the same limits never wait for each other in a circle. A key is stored as
 * its HMAC: no table lists who came when.
 */
export function storedWindows(store: Store, hmac: KeyObject): Windows {
  const hidden = (charges: readonly Charge[]) => charges.map((charge) => ({ ...charge, key: mac(hmac, charge.key) }));
  return {
    consume: (asked, now) =>
      store.transaction(async (trx) => {
        const charges = hidden(asked);
        const kept = await readWindows(store, trx, charges, now);
        const fits = (charge: Charge) => kept.get(charge.key)!.length < charge.limit;
        const all = charges.every(fits);
        const states = charges.map((charge) => stateOf(charge, kept.get(charge.key)!, now, fits(charge), all && !charge.peek));
        if (all) await writeWindows(trx, charges.filter(({ peek }) => !peek), kept, now);
        return states;
      }),
    refund: (taken, at) =>
      store.transaction(async (trx) => {
        const charges = hidden(taken);
        const kept = await readWindows(store, trx, charges, at);
        for (const { key } of charges) {
          const hits = kept.get(key)!;
          const index = hits.lastIndexOf(at);
          if (index >= 0) await trx.updateTable('auth_limit_windows').set({ hits: JSON.stringify(hits.toSpliced(index, 1)) }).where('key', '=', key).execute();
        }
      }),
  };
}

async function readWindows(store: Store, trx: Transaction<any>, charges: readonly Charge[], now: number): Promise<Map<string, number[]>> {
  const keys = [...new Set(charges.map(({ key }) => key))].sort();
  // On PostgreSQL a row must be there to be locked. SQLite's transaction is alone already.
  if (store.dialect === 'postgres') await lockRows(trx, keys);
  const rows = await trx.selectFrom('auth_limit_windows').select(['key', 'hits']).where('key', 'in', keys).execute();
  const stored = new Map(rows.map(({ key, hits }) => [key as string, JSON.parse(hits) as number[]]));
  return new Map(charges.map(({ key, window }) => [key, (stored.get(key) ?? []).filter((hit) => hit > now - window)]));
}

async function lockRows(trx: Transaction<any>, keys: readonly string[]): Promise<void> {
  await sql`insert into auth_limit_windows (key, hits, expires_at) select k, '[]', 0 from unnest(${keys as string[]}::text[]) k order by k
    on conflict (key) do update set expires_at = auth_limit_windows.expires_at`.execute(trx);
}

async function writeWindows(trx: Transaction<any>, charges: readonly Charge[], kept: ReadonlyMap<string, number[]>, now: number): Promise<void> {
  if (charges.length === 0) return;
  const rows = charges.map(({ key, window }) => ({ key, hits: JSON.stringify([...kept.get(key)!, now]), expires_at: now + window }));
  await trx
    .insertInto('auth_limit_windows')
    .values(rows)
    .onConflict((conflict) => conflict.column('key').doUpdateSet((set) => ({ hits: set.ref('excluded.hits'), expires_at: set.ref('excluded.expires_at') })))
    .execute();
}

function stateOf({ limit, window }: Charge, hits: readonly number[], now: number, accepted: boolean, charged: boolean): WindowState {
  const oldest = hits[0] ?? (charged ? now : undefined);
  return { accepted, remaining: limit - hits.length - (charged ? 1 : 0), resetIn: oldest === undefined ? 0 : Math.max(0, oldest + window - now) };
}
