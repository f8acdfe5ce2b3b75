import type { RequestContext } from '../context/request-context.ts';
import type { PreparedOperation } from './document-cache.ts';
import type { Parameters } from './parameters.ts';
import type { Companion, Service, Transport } from './service.ts';
import { subscribe } from './subscription.ts';

export interface Subscriber {
  readonly transport: Transport;
  readonly operation: PreparedOperation;
  readonly parameters: Parameters;
  /** See `SubscriptionRequest`. */
  context(): Promise<RequestContext>;
}

/**
 * Subscribes a client, with everything that accompanies subscriptions.
 *
 * @throws RequestErrors, AppError before the first event.
 */
export async function subscribeClient(
  { engine, accompany }: Service,
  { transport, operation, parameters, context }: Subscriber,
): Promise<AsyncIterableIterator<string>> {
  const request = { operation, variables: parameters.variables, context };
  if (!accompany) return subscribe(engine, request);
  let companion: Companion | undefined;
  try {
    const texts = await subscribe(engine, {
      ...request,
      accompany: async (first) =>
        (companion = await accompany({ operation, parameters, context: first }, transport)),
    });
    return ending(texts, () => companion?.end?.());
  } catch (refused) {
    companion?.end?.();
    throw refused;
  }
}

/** Calls `ended` once, when the texts have ended or the reader has left. */
function ending(
  texts: AsyncIterableIterator<string>,
  ended: () => void,
): AsyncIterableIterator<string> {
  let open = true;
  const end = () => {
    if (open) ended();
    open = false;
  };
  const all: AsyncIterableIterator<string> = {
    next: async () => {
      try {
        const next = await texts.next();
        if (next.done) end();
        return next;
      } catch (thrown) {
        end();
        throw thrown;
      }
    },
    return: async () => {
      end();
      return (await texts.return?.()) ?? { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => all,
  };
  return all;
}
