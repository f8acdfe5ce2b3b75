import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sqliteAdapter } from '@payloadcms/db-sqlite';
import { buildConfig, type CollectionConfig, getPayload, handleEndpoints } from 'payload';

/**
 * Payload for `own-code.ts`: its REST endpoints on node:http, without Next.js, which would only cost
 * it time. One collection has a hook that sets a column.
 */
const open = () => true;
const collection: Omit<CollectionConfig, 'slug'> = {
  fields: [
    { name: 'title', type: 'text', required: true },
    { name: 'text', type: 'text', defaultValue: '' },
  ],
  access: { create: open, read: open },
};
const config = await buildConfig({
  secret: 'a secret of the benchmark',
  telemetry: false,
  logger: { options: { level: 'error' } },
  db: sqliteAdapter({ client: { url: process.env['DATABASE_URL']! }, wal: true }),
  collections: [
    { ...collection, slug: 'notes' },
    {
      ...collection,
      slug: 'memos',
      hooks: { beforeChange: [({ data }) => ({ ...data, text: 'by a hook' })] },
    },
  ],
});
// Payload makes its tables outside of production only.
await getPayload({ config });
process.env['NODE_ENV'] = 'production';

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { status, headers, ...answer } = await asked(request, Buffer.concat(parts));
  response.writeHead(status, Object.fromEntries(headers)).end(await answer.text());
}

async function asked({ url = '/', method = 'GET', headers }: IncomingMessage, body: Buffer) {
  const request = new Request(`http://127.0.0.1${url}`, {
    method,
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body }),
  });
  const answer = await handleEndpoints({ config, path: url, request });
  return { status: answer.status, headers: answer.headers, text: () => answer.text() };
}

const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.on('disconnect', () => process.exit());
