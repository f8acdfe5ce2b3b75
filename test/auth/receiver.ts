import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: Record<string, any>;
}

/** A receiver of webhooks on loopback. `answer` says what each delivery gets. */
export async function startReceiver(answer: (count: number) => number | 'hang' = () => 204) {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      deliveries.push({ headers: request.headers, body, event: JSON.parse(body) });
      const status = answer(deliveries.length);
      if (status === 'hang') return;
      if (status === 302) response.setHeader('Location', '/elsewhere');
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    deliveries,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
