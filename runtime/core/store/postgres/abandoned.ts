import type pg from 'pg';
import type { Asker } from '../bounds.ts';
import type { WireClass } from './wire.ts';

/** Milliseconds between two checks of the running statements. */
const CHECK_EVERY = 100;
/** Checks after which a cancelled statement that still runs is given up, with its connection. */
const MAX_CHECKS = 50;

/** The fields of the driver's client for a cancel request: address, process id and secret key. */
interface Backend {
  readonly host: string;
  readonly port: number;
  readonly ssl?: unknown;
  readonly sslNegotiation?: string;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: { destroy(): void } };
}

interface Running {
  readonly client: pg.PoolClient;
  readonly asker: Asker;
  looks: number;
}

/**
 * Cancels statements whose client has disconnected: PostgreSQL itself would run them to their end.
 */
export interface Abandoned {
  /** Registers a statement for `asker` on `client`, to be cancelled when its asker is gone. */
  began(client: pg.PoolClient, asker: Asker | undefined): Running | undefined;
  ended(running: Running | undefined): void;
  /**
   * Whether a cancel request was sent for the connection. It may arrive late, so the connection is
   * not reused.
   */
  isTold(client: pg.PoolClient): boolean;
}

/**
 * Checks all askers ten times a second, because a signal for each request would cost more than its
 * statement.
 *
 * @param Connection the driver's class, for connections that only send a cancel request.
 */
export function abandonedStatements(Connection: WireClass): Abandoned {
  const running = new Set<Running>();
  const told = new WeakSet<pg.PoolClient>();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (statement: Running) => {
    statement.looks += 1;
    told.add(statement.client);
    const backend = statement.client as unknown as Backend;
    if (statement.looks < MAX_CHECKS) return cancel(Connection, backend);
    backend.connection.stream.destroy();
  };
  const look = () => {
    for (const statement of running) if (statement.asker.cancelled) giveUp(statement);
    if (running.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    began: (client, asker) => {
      if (!asker) return undefined;
      const statement: Running = { client, asker, looks: 0 };
      running.add(statement);
      timer ??= setInterval(look, CHECK_EVERY).unref();
      return statement;
    },
    ended: (statement) => void (statement && running.delete(statement)),
    isTold: (client) => told.has(client),
  };
}

/**
 * Sends a cancel request over a connection of its own, which is independent of the pool. See
 * "Canceling Requests in Progress" in PostgreSQL's protocol.
 */
function cancel(
  Connection: WireClass,
  { host, port, ssl, sslNegotiation, processID, secretKey }: Backend,
): void {
  const wire = new Connection({ ssl, sslNegotiation });
  const tell = () => wire.cancel(processID, secretKey);
  // The request is sent again at the next check, while the statement runs.
  wire.on('error', () => {});
  if (ssl && sslNegotiation !== 'direct') wire.on('connect', () => wire.requestSsl());
  wire.on(ssl ? 'sslconnect' : 'connect', tell);
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
  else wire.connect(port, host);
}
