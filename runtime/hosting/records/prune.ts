import type { HostingStore } from './tables.ts';

const DAY = 86_400_000;
/** Days that webhook deliveries are kept. For that long, a repeated push is refused. */
const DELIVERY_DAYS = 90;

/**
 * Deletes old deliveries, and the logs of deployments too old for a rollback.
 * @returns the number of rows.
 */
export async function pruneRecords(
  { db }: HostingStore,
  { now, keep }: { readonly now: number; readonly keep: number },
): Promise<number> {
  const before = (days: number) => new Date(now - days * DAY).toISOString();
  const deliveries = await db
    .deleteFrom('hosting_deliveries')
    .where('at', '<', before(DELIVERY_DAYS))
    .executeTakeFirst();
  const newest = await db
    .selectFrom('hosting_deployments')
    .select((column) => ['app_id', column.fn.max('number').as('last')])
    .groupBy('app_id')
    .execute();
  let logs = 0n;
  for (const { app_id, last } of newest) {
    const old = db
      .updateTable('hosting_deployments')
      .set({ build_log: null, log: '[]', probes: '[]' })
      .where('app_id', '=', app_id);
    logs += (
      await old
        .where('number', '<=', last - keep * 4)
        .where('build_log', 'is not', null)
        .executeTakeFirst()
    ).numUpdatedRows;
  }
  return Number(deliveries.numDeletedRows + logs);
}
