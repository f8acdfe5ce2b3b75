import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { Cancellation } from '../context/cancellation.ts';
import type { RequestContext } from '../context/request-context.ts';
import { freshContext } from './fresh-context.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { errorsOf, findOperation, refuse, respond, type Service } from './service.ts';
import type { SocketCallers } from './socket-caller.ts';
import { subscribe } from './subscription.ts';

const PROTOCOL = 'graphql-transport-ws';
/** Milliseconds. */
const INIT_WITHIN = 5000;
const PING_EVERY = 30_000;
/** A caller whose session has ended stops getting events after this. */
const TRUST_FOR = 30_000;
const OPERATIONS = 100;

export interface SocketOptions {
  readonly service: Service;
  readonly callers: SocketCallers;
  readonly bodyLimit: number;
  readonly origins: readonly string[];
}

export interface Sockets {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): Promise<void>;
}

/** Serves the `graphql-transport-ws` protocol, as the library graphql-ws speaks it, on the endpoint's own path. */
export function createSockets(options: SocketOptions): Sockets {
  let server: WebSocketServer | undefined;
  return {
    upgrade: (request, socket, head) => {
      if (new URL(request.url ?? '', 'http://localhost').pathname !== options.service.api.path)
        return false;
      if (!isKnownOrigin(request, options.origins))
        socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      else
        (server ??= createSocketServer(options)).handleUpgrade(request, socket, head, (client) =>
          serve(client, request, options),
        );
      return true;
    },
    close: async () => {
      if (server) await closeAll(server);
    },
  };
}

const load = createRequire(import.meta.url);

/** The library waits for the first socket. */
function createSocketServer({ bodyLimit }: SocketOptions): WebSocketServer {
  const { WebSocketServer: Server } = load('ws') as typeof import('ws');
  return new Server({
    noServer: true,
    maxPayload: bodyLimit,
    handleProtocols: (protocols) => (protocols.has(PROTOCOL) ? PROTOCOL : false),
  });
}

async function closeAll(server: WebSocketServer): Promise<void> {
  for (const client of server.clients) client.close(1001, 'Going away');
  await new Promise<void>((resolve) => server.close(() => resolve()));
  for (const client of server.clients) client.terminate();
}

/** A page of another site may open a socket to us, without asking first. */
function isKnownOrigin({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  if (headers.origin === undefined || origins.includes(headers.origin)) return true;
  return URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host;
}

/** One connection. */
interface Connection {
  readonly client: WebSocket;
  readonly request: IncomingMessage;
  readonly options: SocketOptions;
  readonly running: Map<string, Cancellation>;
  headers: Readonly<Record<string, string>>;
  context: RequestContext | null;
  initialised: boolean;
  /** When the caller was last found to be who it says. */
  checkedAt: number;
}

function serve(client: WebSocket, request: IncomingMessage, options: SocketOptions): void {
  if (client.protocol !== PROTOCOL) return client.close(4406, 'Subprotocol not acceptable');
  const connection: Connection = {
    client,
    request,
    options,
    running: new Map(),
    headers: {},
    context: null,
    initialised: false,
    checkedAt: 0,
  };
  const late = setTimeout(
    () => connection.context ?? client.close(4408, 'Connection initialisation timeout'),
    INIT_WITHIN,
  );
  let alive = true;
  const pings = setInterval(() => {
    if (!alive) return client.terminate();
    alive = false;
    client.ping();
  }, PING_EVERY);
  client.on('pong', () => (alive = true));
  client.on(
    'message',
    (data) => void receive(connection, data).catch((error: unknown) => fail(connection, error)),
  );
  client.on('error', () => client.terminate());
  client.on('close', () => {
    clearTimeout(late);
    clearInterval(pings);
    for (const operation of connection.running.values()) operation.cancel();
  });
}

function fail({ client, options }: Connection, error: unknown): void {
  options.service.engine.log.error(
    { stack: error instanceof Error ? error.stack : String(error) },
    'a message of a socket failed',
  );
  client.close(4500, 'Internal server error');
}

interface Message {
  readonly type: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

function parseMessage(data: RawData): Message | null {
  try {
    const { type, id = '', payload } = JSON.parse(String(data));
    const isMap =
      payload === undefined ||
      payload === null ||
      (typeof payload === 'object' && !Array.isArray(payload));
    return typeof type === 'string' && typeof id === 'string' && isMap
      ? { type, id, payload: payload ?? {} }
      : null;
  } catch {
    return null;
  }
}

async function receive(connection: Connection, data: RawData): Promise<void> {
  const message = parseMessage(data);
  const { client } = connection;
  switch (message?.type) {
    case 'connection_init':
      return initialise(connection, message.payload);
    case 'ping':
      return send(client, { type: 'pong' });
    case 'pong':
      return;
    case 'subscribe':
      return begin(connection, message);
    case 'complete':
      return connection.running.get(message.id)?.cancel();
    default:
      return client.close(4400, 'Invalid message');
  }
}

function send(client: WebSocket, message: object): void {
  if (client.readyState === client.OPEN) client.send(JSON.stringify(message));
}

async function initialise(
  connection: Connection,
  payload: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { client, options, request } = connection;
  if (connection.initialised) return client.close(4429, 'Too many initialisation requests');
  connection.initialised = true;
  connection.headers = readHeaders(payload);
  try {
    connection.context = await options.callers.identify(request, connection.headers);
    connection.checkedAt = options.service.engine.now();
    send(client, { type: 'connection_ack' });
  } catch {
    client.close(4403, 'Forbidden');
  }
}

/** `{ authorization }`, `{ headers: { … } }`, in any case; only what says who calls. */
function readHeaders(payload: Readonly<Record<string, unknown>>): Record<string, string> {
  const given =
    typeof payload['headers'] === 'object' && payload['headers'] !== null
      ? { ...payload, ...payload['headers'] }
      : payload;
  const entries = Object.entries(given).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return Object.fromEntries(
    entries.filter(
      (entry): entry is readonly [string, string] =>
        ['authorization', 'x-api-key'].includes(entry[0]) && typeof entry[1] === 'string',
    ),
  );
}

async function begin(connection: Connection, { id, payload }: Message): Promise<void> {
  const { client, running } = connection;
  if (!connection.context) return client.close(4401, 'Unauthorized');
  if (running.has(id)) return client.close(4409, taken(id));
  if (running.size >= OPERATIONS) return client.close(4429, 'Too many operations');
  const operation = new Cancellation();
  running.set(id, operation);
  try {
    for await (const text of await answers(connection, payload, operation)) {
      if (operation.cancelled) break;
      if (client.readyState === client.OPEN)
        client.send(`{"id":${JSON.stringify(id)},"type":"next","payload":${text}}`);
    }
    if (!operation.cancelled) send(client, { id, type: 'complete' });
  } catch (thrown) {
    const { text } = refuse(errorsOf(thrown), connection.context);
    if (!operation.cancelled) send(client, { id, type: 'error', payload: JSON.parse(text).errors });
  } finally {
    running.delete(id);
  }
}

/** A reason has at most 123 bytes (RFC 6455, section 5.5), and an id is what the client likes. */
function taken(id: string): string {
  const reason = `Subscriber for ${id} already exists`;
  return Buffer.byteLength(reason) <= 123 ? reason : 'Subscriber for this id already exists';
}

async function answers(
  connection: Connection,
  payload: Message['payload'],
  cancellation: Cancellation,
): Promise<AsyncIterable<string>> {
  const { service } = connection.options;
  const parameters: Parameters = readParameters(payload);
  const operation = findOperation(service, parameters);
  if (operation.node.operation !== 'subscription')
    return single(
      async () =>
        (
          await respond(
            service,
            operation,
            parameters,
            await callerNow(connection, 0, cancellation),
          )
        ).text,
    );
  const context = () => callerNow(connection, TRUST_FOR, cancellation);
  const events = await subscribe(service.engine, {
    operation,
    variables: parameters.variables,
    context,
  });
  const end = () => void events.return?.();
  if (cancellation.cancelled) end();
  else cancellation.signal.addEventListener('abort', end, { once: true });
  return events;
}

async function* single(answer: () => Promise<string>): AsyncIterableIterator<string> {
  yield await answer();
}

/** The caller, looked at again when the last look is older than `trust`: a session may have ended since. */
async function callerNow(
  connection: Connection,
  trust: number,
  operation: Cancellation,
): Promise<RequestContext> {
  const { engine } = connection.options.service;
  if (engine.now() - connection.checkedAt > trust) {
    connection.context = await connection.options.callers
      .identify(connection.request, connection.headers)
      .catch((refused: unknown) => {
        connection.client.close(4403, 'Forbidden');
        throw refused;
      });
    connection.checkedAt = engine.now();
  }
  return freshContext(engine, connection.context as RequestContext, operation);
}
