import type { Socket } from 'node:net';
import type { CertificatePair } from './ingress.ts';
import type { Listening } from './listeners.ts';
import type { AppRoute } from './route-table.ts';

/** What the server says to an ingress process. Those with an id are answered when they are done. */
export type IngressCommand =
  | { readonly type: 'set'; readonly route: AppRoute }
  | { readonly type: 'remove'; readonly appId: string }
  /** Forgets every app but these: the first word of a server that has started again. */
  | { readonly type: 'keep'; readonly appIds: readonly string[] }
  | { readonly type: 'certify'; readonly host: string; readonly pair: CertificatePair }
  | { readonly type: 'challenge'; readonly token: string; readonly text: string | null }
  | NumberedCommand
  /** Finishes what runs and ends. */
  | { readonly type: 'leave'; readonly timeout: number };

/** A command that is answered with `done`. */
export type NumberedCommand = { readonly id: number } & CommandWithReply;

export type CommandWithReply =
  | { readonly type: 'drain'; readonly targetIds: readonly string[]; readonly timeout: number }
  /** Listens, now that it has its routes. Where it listens already it says so again. */
  | { readonly type: 'listen' }
  /** Starts this program in its place, gives it the listeners and all it knows, and leaves. */
  | { readonly type: 'handOver'; readonly program: Program };

/** An ingress process to be. */
export interface Program {
  readonly command: string;
  readonly file: string;
  readonly settings: ProcessSettings;
}

export interface ProcessSettings {
  readonly version: string;
  /** The socket on which it takes commands. */
  readonly socket: string;
  readonly http: number;
  readonly https: number;
  readonly host: string;
  readonly redirect: boolean;
  readonly trustedProxies: readonly string[];
  /** How long it serves without a server, in milliseconds. */
  readonly alone: number;
}

/** What an ingress process says. */
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
      /** Of `listen`. */
      readonly listening?: Listening;
      /** Of `handOver`: why it could not. */
      readonly error?: string;
    };

/** What a process gives to the one that takes its place, besides its listeners. */
export interface HandOver {
  readonly type: 'inherit';
  readonly commands: readonly IngressCommand[];
}

/** Sends one message: a line of JSON. */
export function send(socket: Socket, message: IngressCommand | IngressReport): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls back for each message that comes. */
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
