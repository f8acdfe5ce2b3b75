import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  bearer,
  folderOfFigures,
  KEY,
  scrape,
  startFigures,
  TOKEN,
  type StartOptions,
} from './figures.ts';

const folder = folderOfFigures();
const start = (options: StartOptions) => startFigures(folder, options);

describe('who may read the page', () => {
  it('is whoever has the token, or an API key with the scope; nobody else, from loopback neither', async () => {
    const server = await start({});
    try {
      const { url } = server;
      const made = async (scopes: string[]) => {
        const response = await fetch(`${url}/api/auth/admin/api-keys`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': KEY },
          body: JSON.stringify({ name: 'prometheus', scopes }),
        });
        return ((await response.json()) as any).key;
      };
      const good = await made(['metrics:read']);
      const status = async (headers: Record<string, string>) => (await scrape(url, headers)).status;
      expect(await status(bearer(TOKEN))).toBe(200);
      expect(await status({ 'x-api-key': good })).toBe(200);
      expect(await status({ 'x-api-key': await made(['*:read']) })).toBe(200);
      expect(await status({ 'x-api-key': await made(['notes:read', 'system:read']) })).toBe(401);
      for (const headers of [
        {},
        bearer(`${TOKEN}x`),
        bearer('short'),
        { 'x-api-key': TOKEN },
        { authorization: TOKEN },
      ])
        expect([headers, await status(headers as never)]).toEqual([headers, 401]);
      const { type } = await scrape(url);
      expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
      const posted = await fetch(`${url}/metrics`, { method: 'POST', headers: bearer(TOKEN) });
      expect(posted.status).toBe(401);
    } finally {
      await server.close();
    }
  });

  it('is nobody when it is off: 404', async () => {
    const server = await start({ manifest: 'name: figures\nauth: {}\n' });
    try {
      expect((await scrape(server.url, {})).status).toBe(404);
      expect((await scrape(server.url, { 'x-api-key': KEY })).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  it('has to be possible: the start names both ways', async () => {
    const manifest = 'name: figures\nobservability: { metrics: true }\n';
    const without = { manifest, capabilities: false };
    const failed = async (options: StartOptions) =>
      String(await start(options).catch((error) => error));
    expect(await failed({ ...without, env: { METRICS_TOKEN: '' } })).toMatch(
      /METRICS_TOKEN .*auth: .*metrics:read/,
    );
    expect(await failed({ env: { METRICS_TOKEN: 'short' } })).toContain(
      'METRICS_TOKEN must have at least 16 characters',
    );
    const server = await start(without);
    expect((await scrape(server.url)).status).toBe(200);
    await server.close();
  });
});

it('stands alone on its port, on loopback', async () => {
  const port = await freePort();
  const server = await start({
    manifest: `name: figures\nauth: {}\nobservability: { metrics: { path: /figures, port: ${port} } }\n`,
  });
  try {
    const own = `http://127.0.0.1:${port}`;
    expect((await scrape(server.url, bearer(TOKEN), '/figures')).status).toBe(401);
    expect((await scrape(server.url, { 'x-api-key': KEY }, '/figures')).status).toBe(404);
    expect((await scrape(own, bearer(TOKEN), '/figures')).status).toBe(200);
    expect((await scrape(own, { 'x-api-key': KEY }, '/figures')).status).toBe(200);
    expect((await scrape(own, {}, '/figures')).status).toBe(401);
    expect((await scrape(own, bearer(TOKEN), '/metrics')).status).toBe(401);
    expect((await scrape(own, {}, '/api/health')).status).toBe(404);
  } finally {
    await server.close();
  }
});

async function freePort(): Promise<number> {
  const server = createHttp();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
