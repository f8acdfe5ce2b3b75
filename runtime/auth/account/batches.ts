import type { SelectQueryBuilder } from 'kysely';

const BATCH_SIZE = 200;

/**
 * Reads all rows of a query in the order of their ids, a batch at a time. No transaction stays open
 * between two batches, so a slow client holds nothing in the database.
 *
 * @example for await (const rows of batches(db.selectFrom('posts').selectAll(), (row) => row)) …
 */
export async function* batches<Row extends { readonly id?: unknown }>(
  query: SelectQueryBuilder<any, any, Row>,
  view: (row: Row) => object,
): AsyncGenerator<object[]> {
  let after: unknown = null;
  for (;;) {
    const narrowed = after === null ? query : query.where('id', '>', after);
    const rows = await narrowed.orderBy('id').limit(BATCH_SIZE).execute();
    if (rows.length > 0) yield rows.map(view);
    if (rows.length < BATCH_SIZE) return;
    after = rows.at(-1)?.id;
  }
}
