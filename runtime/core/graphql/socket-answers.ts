import { parseExact } from '../data/sql/exact-json.ts';
import type { SubscribePayload } from 'graphql-ws';
import { Cancellation } from '../context/cancellation.ts';
import type { RequestContext } from '../context/request-context.ts';
import { freshContext } from './fresh-context.ts';
import { readParameters } from './parameters.ts';
import { findOperation, respondOnce, type Service } from './service.ts';
import { roomToSend } from './event-queue.ts';
import { subscribe } from './subscription.ts';
import type { SocketCallers } from './socket-caller.ts';
import type { RevalidateCaller } from '../module.ts';
import type { WebSocket } from 'ws';
import type { IncomingMessage } from 'node:http';
import type { CallerWatch } from './caller-watch.ts';

/** The `payload` of a `next` message. */
type Answer = Readonly<Record<string, unknown>>;

/**
 * The answers of an operation over a socket: one, or those of a subscription. Work begins at once;
 * the iterator throws its errors. This is not a generator, because a generator can only be ended
 * between two events, and the next event may be a day away.
 */
export function answersOf(
  connection: Connection,
  payload: SubscribePayload,
): AsyncIterableIterator<Answer> {
  const { client } = connection;
  const operation = new Cancellation();
  const source = begin(connection, payload, operation);
  // The iterator rethrows this error.
  source.catch(() => {});
  const isOpen = () => !operation.cancelled && client.readyState === client.OPEN;
  const waiting = () => (isOpen() ? client.bufferedAmount : 0);
  const end = () => {
    operation.cancel();
    source.then((texts) => texts.return?.()).catch(() => {});
  };
  const answers: AsyncIterableIterator<Answer> = {
    next: async () => {
      try {
        const { done, value } = await (await source).next();
        await roomToSend(waiting);
        if (!done && isOpen()) return { done: false, value: parseExact(value) };
      } catch (thrown) {
        const isWanted = !operation.cancelled;
        end();
        if (isWanted) throw thrown;
      }
      return { done: true, value: undefined };
    },
    return: async () => {
      end();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => answers,
  };
  return answers;
}

async function begin(
  connection: Connection,
  payload: SubscribePayload,
  cancellation: Cancellation,
): Promise<AsyncIterator<string>> {
  const { service } = connection.options;
  const { engine } = service;
  const parameters = readParameters({ ...payload });
  const operation = await findOperation(service, parameters, connection.context as RequestContext);
  if (operation.node.operation !== 'subscription') {
    const context = freshContext(engine, await callerNow(connection), cancellation);
    return respondOnce(service, { operation, parameters, context });
  }
  return subscribe(service, {
    transport: 'websocket',
    operation,
    parameters,
    context: async () => {
      await connection.watch?.assertSame();
      return freshContext(engine, connection.context as RequestContext, cancellation);
    },
  });
}

/** Each query and mutation counts for limits like a request, and its caller is looked up again. */
async function callerNow({
  client,
  options,
  request,
  headers,
}: Connection): Promise<RequestContext> {
  try {
    return await options.callers.identify(request, headers);
  } catch (refused) {
    const { status } = refused as { status?: number };
    if (status === 401 || status === 403) client.close(4403, 'Forbidden');
    throw refused;
  }
}

export interface SocketOptions {
  readonly service: Service;
  readonly callers: SocketCallers;
  readonly revalidate: RevalidateCaller | undefined;
  readonly bodyLimit: number;
  readonly origins: readonly string[];
}

/** One socket, as the hooks of the protocol library get it. */
export interface Connection {
  readonly client: WebSocket;
  readonly request: IncomingMessage;
  readonly options: SocketOptions;
  headers: Readonly<Record<string, string>>;
  /** The context of the request that opened the socket; null until `connection_init`. */
  context: RequestContext | null;
  watch: CallerWatch | null;
}
