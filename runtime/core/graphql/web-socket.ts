import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Server as Protocol, SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { RequestContext } from '../context/request-context.ts';
import { refuseUpgrade } from '../http/unreadable.ts';
import { watchCaller } from './caller-watch.ts';
import { errorsOf, RequestErrors } from './response.ts';
import { leaveRefused } from './service.ts';
import { roomToSend, WAITING_BYTES } from './event-queue.ts';
import { answersOf, type SocketOptions, type Connection } from './socket-answers.ts';

/** Milliseconds within which a client must send `connection_init`. */
const INIT_WITHIN = 5000;
const PING_EVERY = 30_000;
/** Milliseconds after which a client that does not answer the close frame is disconnected. */
const CLOSE_WITHIN = 5000;
const OPERATIONS = 100;

export interface Sockets {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): Promise<void>;
}

interface SocketServer {
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

/**
 * Serves the `graphql-transport-ws` protocol on the path of the endpoint. Its libraries are loaded
 * with the first socket.
 */
export function createSockets(options: SocketOptions): Sockets {
  const { path } = options.service.api;
  let server: Promise<SocketServer> | undefined;
  return {
    upgrade: (request, socket, head) => {
      // The target of a request may be no address, as `//` or `http://[`.
      if (URL.parse(request.url ?? '', 'http://localhost')?.pathname !== path) return false;
      if (!isKnownOrigin(request, options.origins)) refuseUpgrade(socket, 403);
      else
        (server ??= createSocketServer(options)).then(
          ({ accept }) => accept(request, socket, head),
          () => socket.destroy(),
        );
      return true;
    },
    close: async () => (await server)?.close(),
  };
}

/** A page of any site can open a WebSocket without a preflight, so the origin is checked here. */
function isKnownOrigin({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  if (headers.origin === undefined || origins.includes('*')) return true;
  if (origins.includes(headers.origin)) return true;
  return URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host;
}

async function createSocketServer(options: SocketOptions): Promise<SocketServer> {
  const [{ WebSocketServer }, { makeServer, handleProtocols }] = await Promise.all([
    import('ws'),
    import('graphql-ws'),
  ]);
  const protocol = makeServer<Record<string, unknown>, Connection>(protocolOptions(options));
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.bodyLimit,
    handleProtocols,
  });
  return {
    accept: (request, socket, head) =>
      server.handleUpgrade(request, socket, head, (client) =>
        serve(protocol, { client, request, options, headers: {}, context: null, watch: null }),
      ),
    close: async () => {
      for (const client of server.clients) client.close(1001, 'Going away');
      const cut = setTimeout(
        () => server.clients.forEach((client) => client.terminate()),
        CLOSE_WITHIN,
      );
      await new Promise<void>((resolve) => server.close(() => resolve()));
      clearTimeout(cut);
    },
  };
}

type Options = Parameters<
  typeof import('graphql-ws').makeServer<Record<string, unknown>, Connection>
>[0];
type Payload = SubscribePayload;

/**
 * Our own service finds, checks and runs documents and always answers with an iterator. So the
 * library treats each operation as the same subscription.
 */
function protocolOptions({ service: { engine } }: SocketOptions): Options {
  return {
    connectionInitWaitTimeout: INIT_WITHIN,
    onConnect: ({ connectionParams, extra }) => identify(extra, connectionParams ?? {}),
    onSubscribe: ({ extra, subscriptions }, _id, payload: Payload) => {
      if (Object.keys(subscriptions).length > OPERATIONS)
        extra.client.close(4429, 'Too many operations');
      return {
        schema: engine.schema,
        document: PLACEHOLDER_DOCUMENT,
        rootValue: answersOf(extra, payload),
      };
    },
    subscribe: ({ rootValue }) => rootValue as AsyncIterableIterator<never>,
    onNext: (_context, _id, _payload, _args, result) => result as never,
    onError: ({ extra }, _id, _payload, errors) => formatted(extra, errors),
  };
}

/** The library reads only the kind of the operation. */
const PLACEHOLDER_DOCUMENT = {
  kind: 'Document',
  definitions: [{ kind: 'OperationDefinition', operation: 'subscription' }],
} as never;

async function identify(
  connection: Connection,
  params: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const { client, options, request } = connection;
  const { callers, revalidate } = options;
  const headers = readHeaders(params);
  try {
    const context = await callers.identify(request, headers);
    const changed = () => client.close(4403, 'Forbidden');
    Object.assign(connection, { headers, context });
    if (client.readyState !== client.OPEN) return false;
    connection.watch = watchCaller({ callers, revalidate, request, headers, context, changed });
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads `{ authorization }` or `{ headers: { … } }`, in any letter case. Only headers that identify
 * the caller are used.
 */
function readHeaders(params: Readonly<Record<string, unknown>>): Record<string, string> {
  const given =
    typeof params['headers'] === 'object' && params['headers'] !== null
      ? { ...params, ...params['headers'] }
      : params;
  const entries = Object.entries(given).map(
    ([name, value]) => [HEADER_OF[name] ?? name.toLowerCase(), textOf(value)] as const,
  );
  return Object.fromEntries(
    entries.filter(
      (entry): entry is readonly [string, string] =>
        ['authorization', 'x-api-key', 'x-organization'].includes(entry[0]) &&
        typeof entry[1] === 'string',
    ),
  );
}

/** Parameters of `connection_init` that stand for a header with another name. */
const HEADER_OF: Readonly<Record<string, string>> = { organization: 'x-organization' };

/** The text of a parameter. The key of an organization may be a number. */
const textOf = (value: unknown) => (typeof value === 'number' ? String(value) : value);

/** Unwraps the error, which the library has wrapped. */
async function formatted({ context, options }: Connection, errors: readonly Error[]) {
  const thrown = errors.flatMap((error) => errorsOf(error.cause ?? error));
  const refused = new RequestErrors(thrown);
  const { text } = await leaveRefused(options.service, refused, context as RequestContext);
  return JSON.parse(String(text)).errors;
}

/** Connects a socket to the protocol library. */
function serve(protocol: Protocol<Connection>, connection: Connection): void {
  const { client, options } = connection;
  const fail = (error: unknown) => {
    const stack = error instanceof Error ? error.stack : String(error);
    options.service.engine.log.error({ stack }, 'a message of a socket failed');
    client.close(4500, 'Internal server error');
  };
  const closed = protocol.opened(
    {
      protocol: client.protocol,
      // Unread data is bounded where answers are made.
      send: (text) => {
        if (client.readyState === client.OPEN) client.send(text);
      },
      close: (code, reason) => client.close(code, truncateReason(reason)),
      onMessage: (receive) =>
        client.on('message', (data) => {
          if (client.bufferedAmount > WAITING_BYTES) waitForReader(client);
          void receive(parseMessage(String(data))).catch(fail);
        }),
    },
    connection,
  );
  const pings = keepAlive(client);
  client.on('error', () => client.terminate());
  client.on('close', (code, reason) => {
    clearInterval(pings);
    connection.watch?.stop();
    closed(code, String(reason)).catch(fail);
  });
}

/**
 * The library expects a text in `query`, which is missing in a trusted document that is named by
 * its hash. It accepts a message that is parsed already, and closes the socket for one that is not
 * JSON.
 */
function parseMessage(text: string): string {
  try {
    const message = JSON.parse(text);
    const { type, payload } = message ?? {};
    if (type !== 'subscribe' || typeof payload !== 'object' || payload === null) return message;
    return { ...message, payload: { ...payload, query: payload.query ?? '' } } as never;
  } catch {
    return text;
  }
}

/** Each message causes an answer, so a client that does not read may not send more messages. */
function waitForReader(client: WebSocket): void {
  client.pause();
  roomToSend(() => (client.readyState === client.OPEN ? client.bufferedAmount : 0)).then(
    () => client.resume(),
    () => client.terminate(),
  );
}

/** Ends a socket that did not answer the last ping. */
function keepAlive(client: WebSocket): NodeJS.Timeout {
  let alive = true;
  client.on('pong', () => (alive = true));
  return setInterval(() => {
    if (!alive) return client.terminate();
    alive = false;
    client.ping();
  }, PING_EVERY);
}

/**
 * A close reason has at most 123 bytes (RFC 6455, section 5.5), and the library puts ids of the
 * client into it.
 */
function truncateReason(reason = ''): string {
  return Buffer.byteLength(reason) <= 123 ? reason : 'Subscriber for this id already exists';
}
