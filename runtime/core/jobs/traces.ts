import type { Store } from '../store/store.ts';
import { askStore } from './dialect.ts';
import type { OpenSpan, Tracing } from '../traces/tracing.ts';

/**
 * Sends jobs and stores with them where that was, in one transaction, so that the span of each
 * stands below that place, whichever process runs it.
 */
export function sendTraced(
  store: Store,
  tracing: Tracing | undefined,
  send: () => Promise<number[]>,
): Promise<number[]> {
  const place = tracing?.placeText();
  if (place === undefined) return send();
  return store.transaction(async () => {
    const ids = await send();
    await askStore(store)('update twofold_jobs set trace = ? where id in $numbers', [
      place,
      JSON.stringify(ids),
    ]);
    return ids;
  });
}

/** Runs one attempt of a job in a span. */
export async function traceJob<T>(
  { store, tracing }: { readonly store: Store; readonly tracing?: Tracing },
  { id, name }: { readonly id: number; readonly name: string },
  work: (span?: OpenSpan) => Promise<T>,
): Promise<T> {
  if (!tracing) return work();
  const options = {
    kind: 'consumer',
    attributes: { 'code.function.name': name, 'messaging.operation.name': 'process' },
  } as const;
  const [row] = await askStore(store)('select trace from twofold_jobs where id = ?', [id]);
  const place = row?.['trace'] ? tracing.placeOf(row['trace']) : undefined;
  return tracing.at(place, () => tracing.span(`job ${name}`, options, work));
}
