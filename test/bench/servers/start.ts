import type { RequestListener, Server } from 'node:http';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Shape } from '../shape.ts';

/** Starts a server over a database, in one of the two shapes, and says on which port of the loopback it listens. */
export type Start = (databaseUrl: string, shape: Shape) => Promise<number>;

/** What a peer answers when nobody is signed in, with status 401. */
export const REFUSAL = { errors: [{ message: 'Unauthorized' }] };

export async function listenOn(handler: RequestListener): Promise<number> {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

export interface Asked {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

/** The body of a request, parsed. */
export function readJson(request: IncomingMessage): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () =>
      resolve(
        JSON.parse(
          (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8'),
        ),
      ),
    );
    request.on('error', reject);
  });
}
