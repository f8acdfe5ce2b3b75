import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver of webhooks got. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, any>;
}

/** A real receiver of webhooks on loopback. `answers` are its first statuses, then 200. */
export async function startReceiver(answers: number[] = []) {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      deliveries.push({ headers: request.headers, text, body: JSON.parse(text) });
      const status = answers.shift() ?? 200;
      response.writeHead(status, { location: `${request.url}/elsewhere` }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/token-of-the-receiver`,
    deliveries,
    close: () =>
      new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}
