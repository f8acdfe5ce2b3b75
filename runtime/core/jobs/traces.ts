import type { Store } from '../store/store.ts';
import type { OpenSpan, Place, Tracing } from '../traces/tracing.ts';

/** The most places that are kept; the oldest ones are dropped. */
const MOST = 1000;
const PLACES = new WeakMap<Store, Map<number, Place>>();

/**
 * Remembers where jobs were sent, so that the span of each stands below that place when this
 * process runs it. Another process begins a trace of its own.
 */
export function rememberPlace(
  store: Store,
  tracing: Tracing | undefined,
  ids: readonly number[],
): void {
  const place = tracing?.place();
  if (!place) return;
  const places = PLACES.get(store) ?? new Map<number, Place>();
  PLACES.set(store, places);
  for (const id of ids) {
    places.set(id, place);
    if (places.size > MOST) places.delete(places.keys().next().value!);
  }
}

/** Runs one attempt of a job in a span. */
export function traceJob<T>(
  { store, tracing }: { readonly store: Store; readonly tracing?: Tracing },
  { id, name }: { readonly id: number; readonly name: string },
  work: (span?: OpenSpan) => T,
): T {
  if (!tracing) return work();
  const options = {
    kind: 'consumer',
    attributes: { 'code.function.name': name, 'messaging.operation.name': 'process' },
  } as const;
  return tracing.at(PLACES.get(store)?.get(id), () => tracing.span(`job ${name}`, options, work));
}
