import type { Socket } from 'node:net';
import type { AppRoute } from './route-table.ts';
import type { CertificatePair } from './ingress.ts';

/** What the server says to an ingress process. Those with an id are answered when they are done. */
export type Command =
  | { readonly type: 'set'; readonly route: AppRoute }
  | { readonly type: 'remove'; readonly appId: string }
  /** Forgets every app but these: the first word of a server that has started again. */
  | { readonly type: 'keep'; readonly appIds: readonly string[] }
  | { readonly type: 'certify'; readonly host: string; readonly pair: CertificatePair }
  | { readonly type: 'challenge'; readonly token: string; readonly text: string | null }
  | {
      readonly type: 'drain';
      readonly id: number;
      readonly targetIds: readonly string[];
      readonly timeout: number;
    }
  /** Finishes what runs and ends: another process has taken over, or nobody will. */
  | { readonly type: 'leave'; readonly timeout: number };

/** What an ingress process says. */
export type Report =
  | {
      readonly type: 'hello';
      readonly version: string;
      readonly http: number | null;
      readonly https: number | null;
    }
  | { readonly type: 'done'; readonly id: number };

/** Sends one message: a line of JSON. */
export function send(socket: Socket, message: Command | Report): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls back for each message that comes. */
export function receive<T extends Command | Report>(
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
