import type { Service } from './service.ts';
import type { SocketCallers } from './socket-caller.ts';
import type { RevalidateCaller } from '../module.ts';
import type { WebSocket } from 'ws';
import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '../context/request-context.ts';
import type { CallerWatch } from './caller-watch.ts';

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
