import type { Socket } from 'node:net';
import type { AppFigures } from './figures.ts';
import type { CertificatePair, IngressOptions } from './ingress.ts';
import type { Listening } from './listeners.ts';
import type { AppRoute } from './route-table.ts';

/**
 * A command from the server to an ingress process. A command with an id gets a `done` report when
 * it has been carried out.
 */
export type IngressCommand =
  | { readonly type: 'set'; readonly route: AppRoute }
  | { readonly type: 'remove'; readonly appId: string }
  /** Removes every app except these. A server sends it first after its start. */
  | { readonly type: 'keep'; readonly appIds: readonly string[] }
  | { readonly type: 'certify'; readonly host: string; readonly pair: CertificatePair }
  | { readonly type: 'challenge'; readonly token: string; readonly text: string | null }
  /** The containers of these targets have ended. */
  | { readonly type: 'abandon'; readonly targetIds: readonly string[] }
  | NumberedCommand
  /** Finishes the running requests, then exits. */
  | { readonly type: 'leave'; readonly timeout: number };

/** A command that is answered with a `done` report. */
export type NumberedCommand = { readonly id: number } & CommandWithReply;

export type CommandWithReply =
  | { readonly type: 'drain'; readonly targetIds: readonly string[]; readonly timeout: number }
  | { readonly type: 'figures' }
  /** Writes the waiting lines of the access log. */
  | { readonly type: 'flushLog' }
  /** Opens the ports, if they are not open yet. Sent when the routes are known. */
  | { readonly type: 'listen' }
  /** Starts the successor, sends it the listeners, routes and certificates, then exits. */
  | { readonly type: 'handOver'; readonly program: Program };

/** How to start an ingress process. */
export interface Program {
  readonly command: string;
  readonly file: string;
  readonly settings: ProcessSettings;
}

export interface ProcessSettings extends Omit<IngressOptions, 'now' | 'hold'> {
  readonly version: string;
  /** The Unix socket on which it accepts commands. */
  readonly socket: string;
  /** Milliseconds that it continues to serve when no server is connected. */
  readonly alone: number;
}

/** A report from an ingress process to the server. */
export type IngressReport =
  | {
      readonly type: 'hello';
      readonly version: string;
      readonly pid: number;
      readonly routes: readonly AppRoute[];
    }
  | {
      readonly type: 'done';
      readonly id: number;
      /** The result of `listen`. */
      readonly listening?: Listening;
      readonly figures?: Readonly<Record<string, AppFigures>>;
      /** Why `handOver` failed. */
      readonly error?: string;
    };

/** The data, besides its listeners, that an ingress process sends to its successor. */
export interface HandOver {
  readonly type: 'inherit';
  readonly commands: readonly IngressCommand[];
}

/** Sends one message as a line of JSON. */
export function send(socket: Socket, message: IngressCommand | IngressReport): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls `onMessage` for each message that arrives. */
export function receive<T extends IngressCommand | IngressReport>(
  socket: Socket,
  onMessage: (message: T) => void,
): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: unknown) => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onMessage(JSON.parse(line) as T);
  });
}

/** The installation's ingress, as its servers store it for each other. */
export interface IngressRecord extends Pick<Listening, 'http' | 'https'> {
  readonly host: string;
  readonly pid: number;
  /** Where an ingress process accepts commands; null for an ingress inside a server. */
  readonly socket: string | null;
}

/** Stores the record in the database: servers that share a database are one installation. */
export interface IngressRecords {
  read(): Promise<IngressRecord | null>;
  write(record: IngressRecord): Promise<void>;
}
