import type pg from 'pg';
import type { Asker } from './bounds.ts';

/** Milliseconds between two looks at what runs. */
const PACE = 100;
/** Looks after which a statement that should have ended is left behind, with its connection. */
const PATIENCE = 50;

/** What of the driver's client says where it is connected, and as whom the server knows it. */
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

/** Ends statements whose client is gone: PostgreSQL itself goes on with them to their end. */
export interface Abandoned {
  /** A statement for `asker` begins on `client`: the server is asked to end it when its asker is gone. */
  began(client: pg.PoolClient, asker: Asker | undefined): Running | undefined;
  ended(running: Running | undefined): void;
  /** A request to cancel may reach the server late: such a connection is not used again. */
  isTold(client: pg.PoolClient): boolean;
}

/**
 * A signal for each request would cost more than its statement does, so that those who ask are asked, ten times a second.
 *
 * @param Connection the driver's, for a connection that asks nothing but to cancel.
 */
export function abandonedStatements(Connection: new (config: object) => pg.Connection): Abandoned {
  const running = new Set<Running>();
  const told = new WeakSet<pg.PoolClient>();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (statement: Running) => {
    statement.looks += 1;
    told.add(statement.client);
    const backend = statement.client as unknown as Backend;
    if (statement.looks < PATIENCE) return cancel(Connection, backend);
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
      timer ??= setInterval(look, PACE).unref();
      return statement;
    },
    ended: (statement) => void (statement && running.delete(statement)),
    isTold: (client) => told.has(client),
  };
}

/** "Canceling Requests in Progress" in the chapter on PostgreSQL's protocol: a connection of its own, which the pool need not have free. */
function cancel(
  Connection: new (config: object) => pg.Connection,
  { host, port, ssl, sslNegotiation, processID, secretKey }: Backend,
): void {
  const wire = new Connection({ ssl, sslNegotiation }) as pg.Connection & {
    connect(port: number | string, host?: string): void;
    requestSsl(): void;
    cancel(id: number, key: number): void;
  };
  const tell = () => wire.cancel(processID, secretKey);
  // The request is sent again at the next look, while the statement runs.
  wire.on('error', () => {});
  if (ssl && sslNegotiation !== 'direct') wire.on('connect', () => wire.requestSsl());
  wire.on(ssl ? 'sslconnect' : 'connect', tell);
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
  else wire.connect(port, host);
}
